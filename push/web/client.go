package web

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
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

// Options say to which server requests are sent, and how.
type Options struct {
	URL string // "https://host:4040/prefix"; without the path of the protocol, and without a user's name and password
	// TokenFile and BasicFile are the names of files with a bearer token, or with USER:PASSWORD. The files are read
	// again for each request, so that the secrets can be replaced. At most one of the two is set.
	TokenFile, BasicFile string
	CAFile               string // file with certificates in PEM that are trusted instead of the system's; "" for none
	Tenant               string // the header X-Scope-OrgID, by which Grafana's servers separate users; "" for none
	Gasm                 string // the version of gasm, for the header User-Agent
}

// Limits for what a server may do.
const (
	timeout    = 30 * time.Second // for a whole request
	maxAnswer  = 64 << 10         // bytes of an answer that are read
	maxHeaders = 64 << 10
	maxFile    = 64 << 10 // bytes of a file with a secret
	maxCAFile  = 16 << 20
)

// A Client sends requests to one URL.
type Client struct {
	o    Options
	url  *url.URL
	http *http.Client
}

// validPort reports whether a port of a URL can be one; "" is the default port.
func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

// New returns a Client for the URL of the options, followed by a path. It reads the files of the options, so that a
// mistake is found at once.
func New(o Options, path string) (*Client, error) {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil:
		return nil, errors.New("the URL can't be read") // without the error of package url, because it may contain a password
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("the URL must begin with http:// or https:// and a host")
	case !validPort(u.Port()):
		return nil, errors.New("the port in the URL must be 1 to 65535")
	case u.User != nil:
		return nil, errors.New("the URL must not contain a user's name or password, " +
			"because others can see the command line: put them into a file")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the URL must not contain ? or #")
	case o.TokenFile != "" && o.BasicFile != "":
		return nil, errors.New("either a bearer token or a password can be sent, not both")
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/")+path, ""
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

// Server returns the URL of the server, without a path.
func (c *Client) Server() string { return c.url.Scheme + "://" + c.url.Host }

// sameOrigin refuses redirects to other servers, because these would get the profile and its labels.
func sameOrigin(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if req.URL.Scheme != first.Scheme || req.URL.Host != first.Host || len(via) > 3 || req.Method != http.MethodPost {
		return http.ErrUseLastResponse
	}
	return nil
}

// Post sends a body, and returns the answer. After an error, the profile should be sent again, unless the error is a
// *push.RefusedError.
func (c *Client) Post(ctx context.Context, body []byte, headers map[string]string) (*Answer, error) {
	secret, err := c.secrets()
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, &push.RefusedError{Reason: err.Error()}
	}
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	if c.o.Tenant != "" {
		req.Header.Set("X-Scope-OrgID", c.o.Tenant)
	}
	req.Header.Set("User-Agent", "gasm/"+c.o.Gasm)
	switch {
	case secret.token != "":
		req.Header.Set("Authorization", "Bearer "+secret.token)
	case c.o.BasicFile != "":
		req.SetBasicAuth(secret.user, secret.password)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, errors.New(secret.hide(reasonOf(err)))
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil && res.StatusCode == http.StatusOK {
		return nil, errors.New(secret.hide("its answer broke off: " + err.Error()))
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return &Answer{Code: res.StatusCode, Kind: kind, Body: text, retryAfter: res.Header.Get("Retry-After"),
		secrets: secret}, nil
}

// reasonOf returns the message of an error of package http, without the method and the URL.
func reasonOf(err error) string {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return err.Error()
}
