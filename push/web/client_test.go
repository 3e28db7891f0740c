package web

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func fileWith(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestNew(t *testing.T) {
	for _, test := range []struct {
		o    Options
		want string
	}{
		{Options{URL: "https://me:secret@host"},
			"the URL must not contain a user's name or password, because others can see the command line: put them into a file"},
		{Options{URL: "https://me:sec%ret@host"}, "the URL can't be read"},
		{Options{URL: "http://host:99999/x"}, "the port in the URL must be 1 to 65535"},
		{Options{URL: "http://host:0"}, "the port in the URL must be 1 to 65535"},
		{Options{URL: "ftp://host"}, "the URL must begin with http:// or https:// and a host"},
		{Options{URL: "https:///x"}, "the URL must begin with http:// or https:// and a host"},
		{Options{URL: "https://host/?x=1"}, "the URL must not contain ? or #"},
		{Options{URL: "https://host", TokenFile: "a", BasicFile: "b"},
			"either a bearer token or a password can be sent, not both"},
		{Options{URL: "https://host", TokenFile: "/nonexistent"}, "/nonexistent: no such file or directory"},
		{Options{URL: "https://host", TokenFile: fileWith(t, "two\nlines")}, "it must have one line"},
		{Options{URL: "https://host", TokenFile: fileWith(t, "\n")}, "it must have one line"},
		{Options{URL: "https://host", BasicFile: fileWith(t, "secret")}, "it must have the form USER:PASSWORD"},
		{Options{URL: "https://host", CAFile: fileWith(t, "secret")}, "there is no certificate in PEM"},
	} {
		_, err := New(test.o, "/path")
		require.ErrorContains(t, err, test.want)
		assert.NotContains(t, err.Error(), "secret@")
	}
	c, err := New(Options{URL: "https://host:4040/a/"}, "/push/Push")
	require.NoError(t, err)
	assert.Equal(t, "https://host:4040", c.Server())
	assert.Equal(t, "https://host:4040/a/push/Push", c.url.String())
}
