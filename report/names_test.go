package report

import (
	"slices"
	"testing"
)

func TestShortMethod(t *testing.T) {
	check := func(name string, width int, want string) {
		t.Helper()
		if got := shortMethod(name, width, "…"); got != want {
			t.Errorf("%q in %d: got %q, want %q", name, width, got, want)
		}
	}
	const hash = "java.util.HashMap::hash"
	check(hash, 23, hash)
	check(hash, 22, "j.util.HashMap::hash")
	check(hash, 17, "j.u.HashMap::hash")
	check(hash, 16, "…u.HashMap::hash") // too little of HashMap would be left
	check(hash, 5, "…hash")
	check(generated, 50, "o.o.j.s.j.JMHSample_08…::measureRight_avgt_jmhStub")
	check(generated, 30, "…st::measureRight_avgt_jmhStub")
	check("Workload::<init>", 16, "Workload::<init>")
	check("ünï.Cläss::méthode", 16, "ü.Cläss::méthode")
	check("invokevirtual codelet", 11, "invok…delet")
	check("StubRoutines::jlong_disjoint_arraycopy", 38, "StubRoutines::jlong_disjoint_arraycopy")
	check("StubRoutines::jlong_disjoint_arraycopy", 33, "StubRo…::jlong_disjoint_arraycopy")
}

func TestShortCommand(t *testing.T) {
	words := []string{"java", "-cp", "a:b:c", "-Dx=1", "org.sample.Main", "arg"}
	check := func(width int, want string) {
		t.Helper()
		if got := shortCommand(words, width, "..."); got != want {
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
		if got := commandLines(words, width, "..."); !slices.Equal(got, want) {
			t.Errorf("%q in %d: got %q, want %q", words, width, got, want)
		}
	}
	check(nil, 20)
	check([]string{"java", "-jar", "b.jar"}, 20, "java -jar b.jar")
	check([]string{"java", "-jar", "benchmarks.jar", "-f", "2"}, 20, "java -jar", "benchmarks.jar -f 2")
	check([]string{"sh", "-c", "echo 'a b'", "$x", ""}, 80, `sh -c 'echo '\''a b'\''' '$x' ''`)
	// At most about four lines, so the middle goes.
	check([]string{"java", "aaaaaaaaa", "bbbbbbbbb", "ccccccccc", "ddddddddd", "end"}, 10, "java", "aaaaaaaaa", "...", "ddddddddd", "end")
}
