package pyroscope

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/gasm-profiler/gasm/push"
	"github.com/gasm-profiler/gasm/push/web"
)

// method is the URL path of the RPC method, below the URL of the options.
const method = "/push.v1.PusherService/Push"

// A Client sends profiles to a server.
type Client struct{ web *web.Client }

// New returns a Client. It reads the files of the options, so that a mistake is found at once.
func New(o web.Options) (*Client, error) {
	c, err := web.New(o, method)
	if err != nil {
		return nil, err
	}
	return &Client{c}, nil
}

// String returns the server's URL.
func (c *Client) String() string { return "pyroscope+" + c.web.Server() }

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

// profileNames are the values of __name__ that Pyroscope expects. Its agent for Java uses the same ones.
var profileNames = map[push.Kind]string{push.CPU: "process_cpu", push.Lock: "mutex", push.Alloc: "memory"}

// labelsOf returns the labels of a profile for Pyroscope: the __name__ of its kind, and all labels with _ in place of
// dots.
func labelsOf(p *push.Profile) []label {
	all := []label{{"__name__", profileNames[p.Kind]}}
	for _, l := range p.Labels {
		all = append(all, label{strings.ReplaceAll(l.Name, ".", "_"), l.Value})
	}
	return all
}

// Send sends a profile as a series with one sample.
func (c *Client) Send(ctx context.Context, p *push.Profile) error {
	body, err := json.Marshal(request{[]series{{labelsOf(p), []sample{{p.Pprof, p.ID}}}}})
	if err != nil {
		return &push.RefusedError{Reason: err.Error()}
	}
	a, err := c.web.Post(ctx, body, map[string]string{"Content-Type": "application/json", "Connect-Protocol-Version": "1"})
	if err != nil {
		return err
	}
	return judge(a)
}

// judge returns nil if the server has accepted the profile, and otherwise an error for package push, which says whether
// to try again.
func judge(a *web.Answer) error {
	isJSON := a.Kind == "application/json"
	switch {
	case a.Code == http.StatusOK && isJSON && json.Valid(a.Body):
		return nil
	case a.Code == http.StatusOK:
		return &push.RefusedError{Reason: fmt.Sprintf(
			"it answers 200 but not as Pyroscope's %s does: is the path of the URL right?", method)}
	}
	var failure struct{ Code, Message string }
	if isJSON && json.Unmarshal(a.Body, &failure) != nil {
		failure.Code, failure.Message = "", ""
	}
	return a.Failure(failure.Code + " " + failure.Message)
}
