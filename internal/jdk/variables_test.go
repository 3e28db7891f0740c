package jdk

import (
	"slices"
	"testing"
)

// TestFlagsArrive of package record checks that JVMs read these options.
func TestAddToolOptions(t *testing.T) {
	check := func(env, options []string, want ...string) {
		t.Helper()
		before := slices.Clone(env)
		if got := AddToolOptions(env, options); !slices.Equal(got, want) {
			t.Errorf("%q and options %q: got %q, want %q", env, options, got, want)
		}
		if !slices.Equal(env, before) {
			t.Errorf("changed its argument: %q", env)
		}
	}
	env := func(e ...string) []string { return e }
	check(env("A=1", "B=2"), env("-Xa", "-Xb"), "A=1", "B=2", "JAVA_TOOL_OPTIONS=-Xa -Xb")
	check(env("A=1", "JAVA_TOOL_OPTIONS=-Dx=y -Xc", "B=2"), env("-Xa"), "A=1", "JAVA_TOOL_OPTIONS=-Dx=y -Xc -Xa", "B=2")
	check(env("JAVA_TOOL_OPTIONS="), env("-Xa"), "JAVA_TOOL_OPTIONS=-Xa")
	check(env("MY_JAVA_TOOL_OPTIONS=-Xc"), env("-Xa"), "MY_JAVA_TOOL_OPTIONS=-Xc", "JAVA_TOOL_OPTIONS=-Xa")
	check(env("A=1"), nil, "A=1")
	check(env("JAVA_TOOL_OPTIONS=-Xc"), nil, "JAVA_TOOL_OPTIONS=-Xc")
	check(nil, env("-Da=b c"), "JAVA_TOOL_OPTIONS='-Da=b c'")
	check(nil, env(`-Da=b"c`, "-Db=it's"), `JAVA_TOOL_OPTIONS='-Da=b"c' '-Db=it'"'"'s'`)
}
