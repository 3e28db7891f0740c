package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/profiles/v1development"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gasm-profiler/gasm/push"
	"github.com/gasm-profiler/gasm/push/web"
)

const (
	path = "/v1development/profiles" // below the URL of the options
	kind = "application/x-protobuf"
	// versionHeader and version say which version of the messages a request has.
	versionHeader = "Otlp-Profiles-Development-Version"
	version       = "1"
)

// A Client sends profiles to a server.
type Client struct {
	web  *web.Client
	gasm string
	say  func(string)

	mu   sync.Mutex
	said time.Time // when the server's last warning was reported
}

// New returns a Client. It reads the files of the options, so that a mistake is found at once. The Client calls say
// with warnings of the server, at most one per minute.
func New(o web.Options, say func(text string)) (*Client, error) {
	c, err := web.New(o, path)
	if err != nil {
		return nil, err
	}
	return &Client{web: c, gasm: o.Gasm, say: say}, nil
}

// String returns the server's URL.
func (c *Client) String() string { return "otlp+" + c.web.Server() }

// Send sends a profile.
func (c *Client) Send(ctx context.Context, p *push.Profile) error {
	r, err := requestOf(p, c.gasm)
	if err != nil {
		return &push.RefusedError{Reason: err.Error()}
	}
	body, err := packed(r)
	if err != nil {
		return &push.RefusedError{Reason: err.Error()}
	}
	a, err := c.web.Post(ctx, body, map[string]string{"Content-Type": kind, "Content-Encoding": "gzip",
		versionHeader: version})
	if err != nil {
		return err
	}
	return c.judge(a)
}

func packed(m proto.Message) ([]byte, error) {
	body, err := proto.Marshal(m)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(body) // a Buffer returns no errors
	_ = w.Close()
	return b.Bytes(), nil
}

// judge returns nil if the server has accepted the profile. Otherwise, it returns an error that tells package push
// whether to send the profile again.
func (c *Client) judge(a *web.Answer) error {
	if a.Code != http.StatusOK {
		message := ""
		switch a.Kind {
		case kind:
			message = statusMessage(a.Body)
		case "text/plain":
			message = string(a.Body)
		}
		return a.Failure(message)
	}
	var res collector.ExportProfilesServiceResponse
	if a.Kind != kind || proto.Unmarshal(a.Body, &res) != nil {
		return &push.RefusedError{Reason: fmt.Sprintf(
			"it answers 200 but not as OTLP's %s does: is the path of the URL right?", path)}
	}
	partial := res.GetPartialSuccess()
	message := a.Text(partial.GetErrorMessage())
	if n := partial.GetRejectedProfiles(); n != 0 { // such a request must not be sent again
		return &push.RefusedError{Reason: fmt.Sprintf("it has rejected %d of the request's profiles: %s", n, message)}
	}
	if message != "" {
		c.warn(message)
	}
	return nil
}

// warnEvery is the minimum time between two reports of warnings.
const warnEvery = time.Minute

// warn reports the message that a server has sent about a profile that it has accepted.
func (c *Client) warn(message string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.said) >= warnEvery {
		c.said = time.Now()
		c.say(c.String() + ": accepts profiles, but warns: " + message)
	}
}

// statusMessage returns the message of a google.rpc.Status, which is what servers send if they refuse a request. It
// returns "" if the bytes are something else.
func statusMessage(status []byte) string {
	message := ""
	for len(status) > 0 {
		field, wire, n := protowire.ConsumeTag(status)
		if n < 0 {
			return ""
		}
		status = status[n:]
		if n = protowire.ConsumeFieldValue(field, wire, status); n < 0 {
			return ""
		}
		if field == 2 && wire == protowire.BytesType {
			text, _ := protowire.ConsumeBytes(status)
			message = string(text)
		}
		status = status[n:]
	}
	return message
}
