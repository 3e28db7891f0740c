package names

import (
	"slices"
	"testing"
)

func TestShortCommand(t *testing.T) {
	words := []string{"java", "-cp", "a:b:c", "-Dx=1", "org.sample.Main", "arg"}
	check := func(width int, want string) {
		t.Helper()
		if got := shorten(words, width, "..."); got != want {
			t.Errorf("in %d: got %q, want %q", width, got, want)
		}
	}
	check(100, "java -cp a:b:c -Dx=1 org.sample.Main arg")
	check(39, "java -cp a:b:c ... org.sample.Main arg")
	check(34, "java -cp ... org.sample.Main arg")
	check(10, "jav... arg")
}

func TestCommandLines(t *testing.T) {
	check := func(words []string, width int, want ...string) {
		t.Helper()
		if got := CommandLines(words, width, "..."); !slices.Equal(got, want) {
			t.Errorf("%q in %d: got %q, want %q", words, width, got, want)
		}
	}
	check(nil, 20)
	check([]string{"java", "-jar", "b.jar"}, 20, "java -jar b.jar")
	check([]string{"java", "-jar", "benchmarks.jar", "-f", "2"}, 20, "java -jar", "benchmarks.jar -f 2")
	check([]string{"sh", "-c", "echo 'a b'", "$x", ""}, 80, `sh -c 'echo '\''a b'\''' '$x' ''`)
	// A command is shown in about four lines at most. The middle of a longer one is left out.
	check([]string{"java", "aaaaaaaaa", "bbbbbbbbb", "ccccccccc", "ddddddddd", "end"}, 10, "java", "aaaaaaaaa", "...",
		"ddddddddd", "end")
}
