package web

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/gasm-profiler/gasm/internal/regular"
)

// secrets holds the texts that must not appear in messages.
type secrets struct{ user, password, token string }

// secrets reads the files with secrets.
func (c *Client) secrets() (s secrets, err error) {
	path := c.o.TokenFile + c.o.BasicFile // one of them is ""
	if path == "" {
		return s, nil
	}
	line, err := ReadSecret(path)
	if err != nil {
		return s, err
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

// ReadSecret returns the line of a file that holds a secret.
func ReadSecret(path string) (string, error) {
	text, err := regular.ReadFile(path, maxFile)
	if err != nil {
		return "", err
	}
	line := strings.TrimSpace(string(text))
	if line == "" || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", fmt.Errorf("%s: it must have one line", path)
	}
	return line, nil
}

// hide replaces the secrets in a text from the server. The server knows them, so its answer may contain them.
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
