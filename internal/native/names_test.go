package native

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDemangle(t *testing.T) {
	cases := map[string]string{
		"_ZN17GCTraceTimeDriverD1Ev":                     "GCTraceTimeDriver::~GCTraceTimeDriver",
		"__ZN17GCTraceTimeDriverD1Ev":                    "GCTraceTimeDriver::~GCTraceTimeDriver", // Mach-O
		"_ZN17GCTraceTimeDriverD1Ev.cold":                "GCTraceTimeDriver::~GCTraceTimeDriver",
		"_ZN10JNIHandles12resolve_implILm0E":             "_ZN10JNIHandles12resolve_implILm0E", // cut short
		"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE": "core::fmt::Formatter::pad",
		"_RNvC6_123foo3bar":                              "123foo::bar",
		"GCTraceTimeDriver::~GCTraceTimeDriver()":        "GCTraceTimeDriver::~GCTraceTimeDriver()",
		"_Copy_conjoint_jlongs_atomic":                   "_Copy_conjoint_jlongs_atomic",
		"_Read":                                          "_Read",
		"malloc":                                         "malloc",
		"memset@plt":                                     "memset@plt",
		"_Z":                                             "_Z",
		"":                                               "",
		"_Z" + strings.Repeat("9", longestMangled): "_Z" + strings.Repeat("9", longestMangled),
	}
	require.NotEmpty(t, cases)
	for in, want := range cases {
		assert.Equal(t, want, Demangle(in), in)
	}
	// bomb is a mangled name in which each S_ doubles the length of the demangled name.
	var bomb string
	for i := range 60 {
		bomb = "_Z1f" + strings.Repeat("1AI", i) + strings.Repeat("S_S_E", i)
		assert.LessOrEqual(t, len(Demangle(bomb)), 1<<longestName+len(bomb))
	}
}

// TestDemangleLikeBinutils demangles the names of each libjvm.so. perf uses the demangler of binutils.
func TestDemangleLikeBinutils(t *testing.T) {
	for _, jdk := range jdks(t) {
		var names []string
		for _, s := range nm(t, jdk.LibJVM()) {
			if strings.HasPrefix(s.name, "_Z") {
				names = append(names, s.name)
			}
		}
		cmd := exec.Command(tool(t, "c++filt"), "--no-params")
		cmd.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
		out, err := cmd.Output()
		require.NoError(t, err)
		different := 0
		for i, want := range bytes.Split(bytes.TrimSpace(out), []byte("\n")) {
			if got := Demangle(names[i]); got != string(want) {
				// If a template argument is a function, c++filt prints it with its parameters. It also appends a number
				// to references to temporaries.
				different++
				assert.True(t, strings.Contains(names[i], "XadL") || strings.HasPrefix(names[i], "_ZGR"),
					"%s\n got %s\nwant %s", names[i], got, want)
			}
		}
		t.Logf("%s: %d of %d names differ", jdk.Name(), different, len(names))
		assert.Less(t, different, len(names)/200, "0.13 to 0.25 % of the names in JDK 11 to 25 have what differs")
		assert.Greater(t, len(names), 50_000, "JDK 11 has 52 560, the others more")
	}
}
