package pyroscope

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/internal/regular"
	"github.com/gasm-profiler/gasm/push"
)

// Options say to which server profiles are sent, and how.
type Options struct {
	URL    string // "https://host:4040/prefix"; without the path /push.v1…, and without a user's name and password
	Tenant string // the header X-Scope-OrgID; "" for none
	// TokenFile and BasicFile are the names of files with a bearer token, or with USER:PASSWORD. The files are read
	// again for each profile, so that the secrets can be replaced. At most one of the two is set.
	TokenFile, BasicFile string
	CAFile               string // file with certificates in PEM that are trusted instead of the system's; "" for none
	Gasm                 string // the version of gasm, for the header User-Agent
}

// Limits for what a server may do.
const (
	timeout    = 30 * time.Second // for a whole request
	maxAnswer  = 64 << 10         // bytes of an answer that are read
	maxHeaders = 64 << 10
	maxFile    = 64 << 10 // bytes of a file with a secret
	maxCAFile  = 16 << 20
	maxMessage = 200 // bytes of the server's message that are reported
)

// method is the URL path of the RPC method, below Options.URL.
const method = "/push.v1.PusherService/Push"

// A Client sends profiles to a server.
type Client struct {
	o    Options
	url  *url.URL
	http *http.Client
}

// New returns a Client. It reads the files of the options, so that a mistake is found at once.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil:
		return nil, errors.New("the URL can't be read") // the error of package url is left out: it may contain a password
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("the URL must begin with http:// or https:// and a host")
	case u.User != nil:
		return nil, errors.New("the URL must not contain a user's name or password, " +
			"because others can see the command line: put them into a file")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the URL must not contain ? or #")
	case o.TokenFile != "" && o.BasicFile != "":
		return nil, errors.New("either a bearer token or a password can be sent, not both")
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/")+method, ""
	c := &Client{o: o, url: u}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CAFile != "" {
		pem, err := regular.ReadFile(o.CAFile, maxCAFile)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: there is no certificate in PEM", o.CAFile)
		}
	}
	if _, err := c.secrets(); err != nil {
		return nil, err
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: config,
		TLSHandshakeTimeout:    timeout / 3,
		MaxResponseHeaderBytes: maxHeaders, MaxConnsPerHost: 1, IdleConnTimeout: 90 * time.Second,
		DisableCompression: true, ForceAttemptHTTP2: true}
	c.http = &http.Client{Transport: transport, Timeout: timeout, CheckRedirect: sameOrigin}
	return c, nil
}

// String returns the server's URL.
func (c *Client) String() string { return "pyroscope+" + c.url.Scheme + "://" + c.url.Host }

// sameOrigin refuses redirects to other servers, because these would get the profile and its labels.
func sameOrigin(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if req.URL.Scheme != first.Scheme || req.URL.Host != first.Host || len(via) > 3 || req.Method != http.MethodPost {
		return http.ErrUseLastResponse
	}
	return nil
}

// secrets holds the texts that must not appear in messages.
type secrets struct{ user, password, token string }

// secrets reads the files with secrets.
func (c *Client) secrets() (s secrets, err error) {
	path := c.o.TokenFile + c.o.BasicFile // one of them is ""
	if path == "" {
		return s, nil
	}
	text, err := regular.ReadFile(path, maxFile)
	if err != nil {
		return s, err
	}
	line := strings.TrimSpace(string(text))
	if line == "" || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return s, fmt.Errorf("%s: it must have one line", path)
	}
	if c.o.TokenFile != "" {
		s.token = line
		return s, nil
	}
	var ok bool
	if s.user, s.password, ok = strings.Cut(line, ":"); !ok {
		return s, fmt.Errorf("%s: it must have the form USER:PASSWORD", path)
	}
	return s, nil
}

// The types of a request's body.
type (
	request struct {
		Series []series `json:"series"`
	}
	series struct {
		Labels  []label  `json:"labels"`
		Samples []sample `json:"samples"`
	}
	label struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	sample struct {
		RawProfile []byte `json:"rawProfile"` // encoding/json writes base64
		ID         string `json:"ID"`
	}
)

// labelsOf returns the labels of a profile for Pyroscope: the __name__ that it expects of CPU profiles, and all labels
// with _ in place of dots.
func labelsOf(p *push.Profile) []label {
	all := []label{{"__name__", "process_cpu"}}
	for _, l := range p.Labels {
		all = append(all, label{strings.ReplaceAll(l.Name, ".", "_"), l.Value})
	}
	return all
}

// Send sends a profile as a series with one sample.
func (c *Client) Send(ctx context.Context, p *push.Profile) error {
	secret, err := c.secrets()
	if err != nil {
		return err
	}
	body, err := json.Marshal(request{[]series{{labelsOf(p), []sample{{p.Pprof, p.ID}}}}})
	if err != nil {
		return &push.RefusedError{Reason: err.Error()}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url.String(), bytes.NewReader(body))
	if err != nil {
		return &push.RefusedError{Reason: err.Error()}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Connect-Protocol-Version", "1")
	req.Header.Set("User-Agent", "gasm/"+c.o.Gasm)
	if c.o.Tenant != "" {
		req.Header.Set("X-Scope-OrgID", c.o.Tenant)
	}
	switch {
	case secret.token != "":
		req.Header.Set("Authorization", "Bearer "+secret.token)
	case c.o.BasicFile != "":
		req.SetBasicAuth(secret.user, secret.password)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return errors.New(secret.hide(reasonOf(err)))
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil && res.StatusCode == http.StatusOK {
		return errors.New(secret.hide("its answer broke off: " + err.Error()))
	}
	return judge(res, answer, secret)
}

// reasonOf returns the message of an error of package http, without the method and the URL.
func reasonOf(err error) string {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return err.Error()
}

// judge returns nil if the server has accepted the profile, and otherwise an error for package push, which says whether
// to try again.
func judge(res *http.Response, answer []byte, secret secrets) error {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	isJSON := kind == "application/json"
	text := fmt.Sprintf("it answers %d", res.StatusCode)
	var failure struct{ Code, Message string }
	if isJSON && json.Unmarshal(answer, &failure) == nil && failure.Code+failure.Message != "" {
		text += ": " + short(secret.hide(strings.TrimSpace(failure.Code+" "+failure.Message)))
	}
	code := res.StatusCode
	switch {
	case code == http.StatusOK && isJSON && json.Valid(answer):
		return nil
	case code == http.StatusOK:
		return &push.RefusedError{Reason: fmt.Sprintf("it answers 200 but not as Pyroscope's %s does: is the path of the URL right?", method)}
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code >= 500:
		return &push.BusyError{Reason: text, After: retryAfter(res.Header.Get("Retry-After"))}
	case code >= 300 && code < 400:
		return &push.RefusedError{Reason: text + ", a redirect that gasm does not follow"}
	}
	return &push.RefusedError{Reason: text}
}

// retryAfter parses the header Retry-After. It returns 0 if there is no valid one.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

// short returns the beginning of a text, as long as a message may be.
func short(text string) string {
	if len(text) > maxMessage {
		return strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}

// hide replaces the secrets in a text that comes from the server, which was sent them.
func (s secrets) hide(text string) string {
	basic := ""
	if s.password != "" {
		basic = base64.StdEncoding.EncodeToString([]byte(s.user + ":" + s.password))
	}
	for _, secret := range []string{s.token, basic, s.password} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}
