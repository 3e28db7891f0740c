package jvm

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gasm-profiler/gasm/printassembly"
)

func TestWithCaptureFlags(t *testing.T) {
	check := func(env, flags []string, want ...string) {
		t.Helper()
		before := slices.Clone(env)
		if got := withCaptureFlags(env, flags); !slices.Equal(got, want) {
			t.Errorf("%q and flags %q: got %q, want %q", env, flags, got, want)
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

// javas gives the JVMs of this machine, one of each installation.
func javas(t *testing.T) []string {
	t.Helper()
	paths, _ := filepath.Glob("/usr/lib/jvm/*/bin/java")
	if path, err := exec.LookPath("java"); err == nil {
		paths = append(paths, path)
	}
	var found []string
	for _, p := range paths {
		if real, err := filepath.EvalSymlinks(p); err == nil && !slices.Contains(found, real) {
			found = append(found, real)
		}
	}
	if len(found) == 0 {
		t.Skip("no java on the PATH or under /usr/lib/jvm")
	}
	return found
}

// java runs a JVM with capture flags through Start.
func java(t *testing.T, flags []string, command ...string) (out, stderr string) {
	t.Helper()
	o, e, code := start(t, LaunchOptions{CaptureFlags: flags}, command...).finish(t)
	if code != 0 {
		t.Errorf("%q with %q: code %d, %s%s", command, flags, code, o, e)
	}
	return string(o), string(e)
}

// TestFlagsArrive looks for flags with blanks and quotes in a real JVM.
func TestFlagsArrive(t *testing.T) {
	t.Setenv("JAVA_TOOL_OPTIONS", "-Dgasm.first=1")
	values := []string{"plain", "with blank", "tab\tand 'single'", `"double"`, `both ' and "`, `'`, `back\slash $HOME *`}
	for _, path := range javas(t) {
		var flags []string
		for _, v := range values {
			flags = append(flags, "-Dgasm.value="+v)
			_, text := java(t, flags[len(flags)-1:], path, "-XshowSettings:properties", "-version")
			if want := "    gasm.value = " + v + "\n"; !strings.Contains(text, want) || !strings.Contains(text, "gasm.first = 1\n") {
				t.Errorf("%s: no %q in\n%s", path, want, text)
			}
		}
	}
}

// TestOptionsFile checks what JMH sees when it asks for compiler blackholes,
// and that capture is off only then.
func TestOptionsFile(t *testing.T) {
	question := []string{"-XX:+UnlockExperimentalVMOptions", "-XX:CompileCommand=blackhole,some/fake/Class.method", "-version"}
	for _, path := range javas(t) {
		dir := filepath.Join(t.TempDir(), "a 'folder' of logs")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		options, err := NewOptionsFile(dir, printassembly.QuietFlags())
		if err != nil {
			t.Fatal(err)
		}
		flags := append(printassembly.CaptureFlags(filepath.Join(dir, LogPattern), true, printassembly.Selection{}), options.Flag())
		check := func(state string, blackholes bool, logs int) {
			t.Helper()
			out, _ := java(t, flags, append([]string{path}, question...)...)
			if got := strings.Contains(out, "CompileCommand: blackhole"); got != blackholes {
				t.Errorf("%s, %s: said CompileCommand: %v, want %v\n%s", path, state, got, blackholes, out)
			}
			if got := CollectLogs(dir); len(got) != logs {
				t.Errorf("%s, %s: got logs %q, want %d", path, state, got, logs)
			}
		}
		check("at first", false, 1)
		options.Quiet(true)
		check("quiet", true, 1)
		options.Quiet(false)
		check("not quiet", false, 2)
		options.Remove()
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "*", "vm.options*")); len(left) > 0 {
			t.Errorf("left %q", left)
		}
	}
}

// TestJMHLive lets a real JMH find compiler blackholes under capture, and
// measures its fork.
func TestJMHLive(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	jar, err := filepath.Abs("../testdata/benchmarks/target/benchmarks.jar")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(jar); err != nil {
		t.Skip("make benchmarks was not run: ", err)
	}
	path, err := exec.LookPath("java")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	options, err := NewOptionsFile(dir, printassembly.QuietFlags())
	if err != nil {
		t.Fatal(err)
	}
	w := NewWatcher(nil, nil)
	w.OnJMHProbe(options.Quiet)
	flags := append(printassembly.CaptureFlags(filepath.Join(dir, LogPattern), true, printassembly.Selection{}), options.Flag())
	began := MonoNanos()
	out, _, code := start(t, LaunchOptions{CaptureFlags: flags, Watch: w}, path, "-jar", jar,
		"VectorSum", "-f", "1", "-wi", "0", "-i", "2", "-r", "100ms").finish(t)
	if code != 0 || !strings.HasPrefix(w.JMHBlackholes(), "compiler (auto-detected") {
		t.Errorf("got code %d, blackholes %q\n%s", code, w.JMHBlackholes(), out)
	}
	if logs := CollectLogs(dir); len(logs) != 2 { // none of the JVMs that were asked
		t.Errorf("got logs %q, want the host's and the fork's", logs)
	}
	trials := w.JMHTrials([]JVM{{PID: 2, Main: forkedMain, StartMonoNanos: began}}, MonoNanos())
	if len(trials) != 1 || len(trials[0].Windows) != 2 {
		t.Errorf("got %v, want two windows", trials)
	}
}

// TestOptionsFileOfUser has another options file on the command line.
func TestOptionsFileOfUser(t *testing.T) {
	dir := t.TempDir()
	options, err := NewOptionsFile(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(dir, "own.options")
	if err := os.WriteFile(own, []byte("-Dgasm.own=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range javas(t) {
		_, text := java(t, []string{options.Flag()}, path, "-XX:VMOptionsFile="+own, "-XshowSettings:properties", "-version")
		if !strings.Contains(text, "gasm.own = 1\n") {
			t.Errorf("%s: the user's options file was not read:\n%s", path, text)
		}
	}
}

func TestOptionsFileErrors(t *testing.T) {
	if _, err := NewOptionsFile(filepath.Join(t.TempDir(), "none"), nil); err == nil {
		t.Error("no folder: no error")
	}
	dir := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	options, err := NewOptionsFile(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(dir)
	options.Quiet(true)
	options.Remove()
}

func TestStartsJava(t *testing.T) {
	for command, want := range map[string]bool{
		"java": true, "/usr/bin/java": true, "./java": true, "javac": false, "mvn": false, "sh": false,
	} {
		if got := StartsJava([]string{command, "-version"}); got != want {
			t.Errorf("%s: got %v, want %v", command, got, want)
		}
	}
}
