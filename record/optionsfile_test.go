package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/record/command"
	"github.com/gasm-profiler/gasm/record/windows"
)

// javas returns the path of java in each JDK of this machine.
func javas(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, j := range gasmtest.NeedJDKs(t, gasmtest.WholeJDK17) {
		found = append(found, j.Java())
	}
	return found
}

// run runs a command with gasm's options in its environment, as a recording does. It calls see, which may be nil, with
// what arrives on stdout.
func run(t *testing.T, flags javaFlags, see func([]byte, int64), words ...string) (out, stderr string, code int) {
	t.Helper()
	dir := t.TempDir()
	outFile, err := os.Create(filepath.Join(dir, "out"))
	require.NoError(t, err)
	defer outFile.Close()
	errFile, err := os.Create(filepath.Join(dir, "err"))
	require.NoError(t, err)
	defer errFile.Close()
	held, err := command.Start(command.Options{Command: words, Env: flags.addTo(os.Environ()), Stdout: outFile,
		Stderr: errFile, SeeStdout: see})
	require.NoError(t, err)
	require.NoError(t, held.Release())
	code = held.Wait()
	outText, err := os.ReadFile(outFile.Name())
	require.NoError(t, err)
	errText, err := os.ReadFile(errFile.Name())
	require.NoError(t, err)
	return string(outText), string(errText), code
}

// java runs a JVM with gasm's options. It fails the test if the JVM does not end with exit code 0.
func java(t *testing.T, flags javaFlags, words ...string) (out, stderr string) {
	t.Helper()
	out, stderr, code := run(t, flags, nil, words...)
	if code != 0 {
		t.Errorf("%q with %q: code %d, %s%s", words, flags, code, out, stderr)
	}
	return out, stderr
}

// flagsFor returns the options for a command, and the code source that made them.
func flagsFor(t *testing.T, command ...string) (*printedCode, javaFlags) {
	t.Helper()
	folder, err := NewFolder(t.Context(), filepath.Join(t.TempDir(), "a 'folder' of\\logs"))
	if err != nil {
		t.Fatal(err)
	}
	r := New(Options{Command: command, Folder: folder, Code: CodePrint}).code.(*printedCode)
	flags, err := r.javaFlags()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if folder.Keep(); folder.InUse() != "" {
			t.Error(folder.InUse())
		}
	})
	return r, flags
}

// TestFlagsArrive checks that options with blanks and quotes arrive in a real JVM.
func TestFlagsArrive(t *testing.T) {
	t.Setenv("JAVA_TOOL_OPTIONS", "-Dgasm.first=1")
	values := []string{"plain", "with blank", "tab\tand 'single'", `"double"`, `both ' and "`, `'`, `back\slash $HOME *`}
	for _, path := range javas(t) {
		var flags []string
		for _, v := range values {
			flags = append(flags, "-Dgasm.value="+v)
			last := flags[len(flags)-1:]
			_, text := java(t, javaFlags{tool: last}, path, "-XshowSettings:properties", "-version")
			if _, launched := java(t, javaFlags{launcher: last}, path, "-XshowSettings:properties",
				"-version"); !strings.Contains(launched, "    gasm.value = "+v+"\n") {
				t.Errorf("%s: no %q by JDK_JAVA_OPTIONS in\n%s", path, v, launched)
			}
			if want := "    gasm.value = " + v + "\n"; !strings.Contains(text, want) ||
				!strings.Contains(text, "gasm.first = 1\n") {
				t.Errorf("%s: no %q in\n%s", path, want, text)
			}
		}
	}
}

// TestOptionsFile checks what JMH sees when it checks a JVM for compiler blackholes. Only during this check, the
// capture of code is off.
func TestOptionsFile(t *testing.T) {
	question := []string{"-XX:+UnlockExperimentalVMOptions", "-XX:CompileCommand=blackhole,some/fake/Class.method",
		"-version"}
	for _, path := range javas(t) {
		r, flags := flagsFor(t, path)
		dir, options := r.r.folder.Path, r.options
		check := func(state string, blackholes bool, logs int) {
			t.Helper()
			out, _ := java(t, flags, append([]string{path}, question...)...)
			if got := strings.Contains(out, "CompileCommand: blackhole"); got != blackholes {
				t.Errorf("%s, %s: said CompileCommand: %v, want %v\n%s", path, state, got, blackholes, out)
			}
			if err := r.logs.Gather(dir); err != nil {
				t.Error(err)
			}
			if got, err := capture.Logs(dir); err != nil || len(got) != logs {
				t.Errorf("%s, %s: got logs %q, want %d", path, state, got, logs)
			}
		}
		check("at first", false, 1)
		options.quieten(true)
		check("quiet", true, 1)
		options.quieten(false)
		check("not quiet", false, 2)
	}
}

// TestJMHLive runs a real JMH under gasm. JMH must find compiler blackholes, and its fork must be captured.
func TestJMHLive(t *testing.T) {
	gasmtest.NeedTime(t)
	jar, path := gasmtest.NeedBenchmarks(t), gasmtest.NeedJava(t)
	r, flags := flagsFor(t, path, "-jar", jar)
	w := windows.NewOutput(windows.Rules{})
	w.OnJMHProbe(r.options.quieten)
	began := monotonic.Nanos()
	out, _, code := run(t, flags, w.See, path, "-jar", jar, "VectorSum", "-f", "1", "-wi", "0", "-i", "2", "-r", "100ms")
	if code != 0 || !strings.HasPrefix(w.JMHBlackholes(), "compiler (auto-detected") {
		t.Errorf("got code %d, blackholes %q\n%s", code, w.JMHBlackholes(), out)
	}
	if err := r.logs.Gather(r.r.folder.Path); err != nil {
		t.Error(err)
	}
	// JMH asks two JVMs about blackholes, and prints a line before it starts the first one. On a busy machine, this
	// JVM may have begun its log before gasm read the line. JMH's result is right nevertheless.
	if logs, err := capture.Logs(r.r.folder.Path); err != nil || len(logs) < 2 || len(logs) > 3 {
		t.Errorf("got logs %q, want the host's and the fork's, and at most one of the JVMs that JMH asked", logs)
	}
	trials := w.JMHTrials([]capture.JVM{{PID: 2, Main: "org.openjdk.jmh.runner.ForkedMain 127.0.0.1 36045",
		StartMonoNanos: began}}, monotonic.Nanos())
	if len(trials) != 1 || len(trials[0].Windows) != 2 {
		t.Errorf("got %v, want two windows", trials)
	}
}

// TestOptionsFileOfUser has a file of options for HotSpot itself (-XX:VMOptionsFile) on the command line. HotSpot
// reads only one such file.
func TestOptionsFileOfUser(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own.options")
	if err := os.WriteFile(own, []byte("-Dgasm.own=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range javas(t) {
		_, flags := flagsFor(t, path)
		_, text := java(t, flags, path, "-XX:VMOptionsFile="+own, "-XshowSettings:properties", "-version")
		if !strings.Contains(text, "gasm.own = 1\n") {
			t.Errorf("%s: the user's options file was not read:\n%s", path, text)
		}
	}
}

func TestOptionsFileErrors(t *testing.T) {
	if _, err := newOptionsFile(filepath.Join(t.TempDir(), "none", "x."), nil, nil); err == nil {
		t.Error("no folder: no error")
	}
	dir := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	options, err := newOptionsFile(dir+"/", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(dir)
	options.quieten(true)
}

func TestStartsJava(t *testing.T) {
	for command, want := range map[string]bool{
		"java": true, "/usr/bin/java": true, "./java": true, "javac": false, "mvn": false, "sh": false,
	} {
		if got := startsJava([]string{command, "-version"}); got != want {
			t.Errorf("%s: got %v, want %v", command, got, want)
		}
	}
}
