package web

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/push"
)

// An Answer is a server's answer to a request.
type Answer struct {
	Code       int    // the status, such as 200
	Kind       string // the media type, such as "application/json"
	Body       []byte // its first 64 kB
	retryAfter string // the header Retry-After
	secrets    secrets
}

const maxMessage = 200 // bytes of the server's message that are reported

// Failure returns the error for an answer whose status is not 200. The error says whether to send the profile again.
// message is the server's explanation, or "".
func (a *Answer) Failure(message string) error {
	text := fmt.Sprintf("it answers %d", a.Code)
	if message = a.Text(message); message != "" {
		text += ": " + message
	}
	switch {
	case a.Code == http.StatusTooManyRequests, a.Code == http.StatusRequestTimeout, a.Code >= 500:
		return &push.BusyError{Reason: text, After: retryAfter(a.retryAfter)}
	case a.Code >= 300 && a.Code < 400:
		return &push.RefusedError{Reason: text + ", a redirect that gasm does not follow"}
	}
	return &push.RefusedError{Reason: text}
}

// Text returns a text of the server for a message to the user: without the sender's secrets, and not too long.
func (a *Answer) Text(message string) string {
	message = a.secrets.hide(strings.ToValidUTF8(strings.TrimSpace(message), "_"))
	if len(message) > maxMessage {
		return strings.ToValidUTF8(message[:maxMessage], "") + "…"
	}
	return message
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
