package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	settings, err := Parse("\ufeff# a comment\n\n every=15s\r\nlabel = team=a=b\nto =  dir:/var/lib/gasm watch # here\n")
	require.NoError(t, err)
	assert.Equal(t, []Setting{{3, "every", "15s"}, {4, "label", "team=a=b"}, {5, "to", "dir:/var/lib/gasm watch # here"}},
		settings)
	const form = "a line has the form NAME = VALUE, with the name of a flag without --"
	for text, want := range map[string]string{
		"every 15s":                       "1: " + form,
		"\n--every = 15s":                 "2: " + form,
		"= 15s":                           "1: " + form,
		"every =":                         "1: every has no value",
		"to = \x00":                       "1: to has a value that is not text",
		"to = \xff":                       "1: to has a value that is not text",
		strings.Repeat("a=b\n", 1001):     "1001: there are more than 1000 settings",
		strings.Repeat("a", 41) + " = b":  "1: " + form,
		"every = 15s\nevery = 15s\n[x]\n": "3: " + form,
	} {
		_, err := Parse(text)
		require.EqualError(t, err, want, "%.50q", text)
	}
}

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "watch.conf")
	_, err := Read(path)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, []byte("every"), 0o600))
	_, err = Read(path)
	require.EqualError(t, err, path+":1: a line has the form NAME = VALUE, with the name of a flag without --")
	require.NoError(t, os.WriteFile(path, make([]byte, 2<<20), 0o600))
	_, err = Read(path)
	require.Error(t, err)
}

func FuzzParse(f *testing.F) {
	f.Add("every = 15s\n# x\n")
	f.Add("a=\n")
	f.Fuzz(func(t *testing.T, text string) {
		settings, err := Parse(text)
		if err != nil {
			assert.Nil(t, settings)
		}
		for _, s := range settings {
			again, err := Parse(s.Name + " = " + s.Value)
			require.NoError(t, err)
			assert.Equal(t, []Setting{{1, s.Name, s.Value}}, again)
		}
	})
}
