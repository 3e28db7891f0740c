package jcmd

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestQuote(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"/tmp/a.jfr", "/tmp/a.jfr"},
		{"/tmp/a b.jfr", `"/tmp/a b.jfr"`},
		{`/tmp/a "b".jfr`, `'/tmp/a "b".jfr'`},
		{"/tmp/it's.jfr", `"/tmp/it's.jfr"`},
		{"a,b=c", `"a,b=c"`},
	} {
		got, err := Quote(c.in)
		require.NoError(t, err)
		assert.Equal(t, c.want, got)
	}
	for _, bad := range []string{`it's "b"`, "a\nb", "a\x00b"} {
		_, err := Quote(bad)
		assert.ErrorContains(t, err, "can't be passed to a JVM")
	}
}

func TestRequest(t *testing.T) {
	got, err := request("VM.version")
	require.NoError(t, err)
	assert.Equal(t, "1\x00jcmd\x00VM.version\x00\x00\x00", string(got))
	for _, c := range []struct{ in, want string }{
		{"", "no command"},
		{"VM\x00version", "can't be passed"},
		{strings.Repeat("x", 1025), "at most 1024 bytes"},
	} {
		_, err := request(c.in)
		assert.ErrorContains(t, err, c.want)
	}
}

func TestParseReply(t *testing.T) {
	text, err := parseReply(4711, "VM.version", []byte("0\nOpenJDK\nJDK 17\n"))
	require.NoError(t, err)
	assert.Equal(t, "OpenJDK\nJDK 17\n", text)
	_, err = parseReply(4711, "VM.none all=true", []byte(
		"1\njava.lang.IllegalArgumentException: Unknown\n\tdiagnostic command\n"))
	var failed *FailedError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t,
		"the JVM with pid 4711 did not do VM.none: java.lang.IllegalArgumentException: Unknown diagnostic command",
		err.Error())
	for _, bad := range []string{"", "0", "no\n"} {
		_, err := parseReply(4711, "VM.version", []byte(bad))
		assert.ErrorContains(t, err, "unknown answer", bad)
	}
}

func FuzzReply(f *testing.F) {
	for _, in := range []string{"0\nOpenJDK\n", "1\njava.lang.IllegalArgumentException: Unknown diagnostic command\n",
		"", "x", "-1\n\xff"} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		text, err := parseReply(4711, "VM.version", in)
		if err != nil && (text != "" || strings.Contains(err.Error(), "\n")) {
			t.Fatalf("%q is %q and %q", in, text, err)
		}
		if !utf8.ValidString(text) {
			t.Fatalf("%q is not UTF-8", text)
		}
	})
}
