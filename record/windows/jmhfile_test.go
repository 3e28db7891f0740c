package windows

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestJMHOutput checks that jmhOutput parses a command line as JMH's parser does.
func TestJMHOutput(t *testing.T) {
	for command, want := range map[string]string{
		"java -jar b.jar Bench":                           "",
		"java -jar b.jar -o out.txt Bench":                "out.txt",
		"java -jar b.jar Bench -o out.txt":                "out.txt",
		"java -jar b.jar -oout.txt Bench":                 "out.txt",
		"java -jar b.jar -o=out.txt Bench":                "out.txt",
		"java -jar b.jar --o=out.txt Bench":               "out.txt",
		"java -jar b.jar --o /tmp/out.txt":                "/tmp/out.txt",
		"java -jar b.jar -o a=b.txt":                      "a=b.txt",
		"java -jar b.jar -opi 7 -op 7":                    "",
		"java -jar b.jar -opi=7 -op=7":                    "",
		"java -jar b.jar -o out.txt -opi 5":               "out.txt",
		"java -jar b.jar -o":                              "",
		"java -cp x org.openjdk.jmh.Main -o out.txt -f 1": "out.txt",
		"./run.sh -f 1 -o out.txt":                        "out.txt",
		"java":                                            "",
	} {
		assert.Equal(t, want, jmhOutput(strings.Fields(command)), command)
	}
}

// TestJMHFile checks that the text of a real run leads to the same trials and windows in a file as on stdout, even if
// the file had the text of an older run before.
func TestJMHFile(t *testing.T) {
	for _, r := range recordings {
		chunks := recording(t, r.name)
		for _, old := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "out.txt")
			if old {
				require.NoError(t, os.WriteFile(path, []byte(jmhHead+"# Fork: 1 of 1\nIteration   7: 1.0 ns/op\n"), 0o600))
				require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)))
			}
			w := NewOutput(Rules{})
			f := newJMHFile(path, nil, (&stream{of: w, jmh: true}).see)
			f.read(1)
			file, err := os.Create(path)
			require.NoError(t, err)
			for _, c := range chunks {
				_, err := file.Write(c.text)
				require.NoError(t, err)
				f.read(c.at)
			}
			require.NoError(t, file.Close())
			jvms := jvmsOf(chunks)
			text, _ := trialsOf(jvms, chunks)
			got := w.JMHTrials(jvms, last(chunks))
			assert.Equal(t, text, describe(jvms, got), "%s, old %v", r.name, old)
		}
	}
}

// TestJMHFileFollowed checks that gasm soon sees what is written, even in a folder that is made later.
func TestJMHFileFollowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "out.txt")
	seen := make(chan string, 100)
	f := newJMHFile(path, nil, func(out []byte, _ int64) { seen <- string(out) })
	go f.run()
	time.Sleep(20 * time.Millisecond)
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o755))
	file, err := os.Create(path)
	require.NoError(t, err)
	defer file.Close()
	for _, part := range []string{"Iteration   1: ", "1.0 ns/op\n", "Iteration   2: "} {
		_, err := file.WriteString(part)
		require.NoError(t, err)
		select {
		case got := <-seen:
			require.Equal(t, part, got)
		case <-time.After(30 * time.Second):
			t.Fatalf("%q was not seen", part)
		}
	}
	_, err = file.WriteString("the rest")
	require.NoError(t, err)
	f.stop()
	<-f.done
	require.NotEmpty(t, seen)
	assert.Equal(t, "the rest", <-seen)
}

// TestJMHFileUnused checks that gasm reads neither the file of an older run that JMH never opens, nor anything that
// is not a regular file.
func TestJMHFileUnused(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old.txt")
	require.NoError(t, os.WriteFile(old, []byte(jmhHead+"# Fork: 1 of 1\nIteration   1: 1.0 ns/op\n"), 0o600))
	for _, path := range []string{old, dir, "/dev/zero", filepath.Join(dir, "none", "none")} {
		f := newJMHFile(path, nil, func(out []byte, _ int64) { t.Errorf("%s: %.30q", path, out) })
		go f.run()
		time.Sleep(50 * time.Millisecond)
		f.stop()
		<-f.done
	}
}

// TestJMHFileOfOther checks that gasm stops reading a file that turns out not to be JMH's. Another program may have
// an option -o, too, and the file may be large.
func TestJMHFileOfOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.bin")
	seen := 0
	f := newJMHFile(path, nil, func(out []byte, _ int64) { seen += len(out) })
	for _, text := range []string{strings.Repeat("x", maxHead), strings.Repeat("y", 10*maxHead), jmhMark} {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = file.WriteString(text)
		require.NoError(t, err)
		require.NoError(t, file.Close())
		f.read(1)
	}
	assert.Greater(t, seen, maxHead)
	assert.Less(t, seen, 2*maxHead)
}

// TestJMHFiles checks that a file is followed only once, whether the command itself or a JVM that it starts has the
// option, and that no file is followed for JVMs without the option.
func TestJMHFiles(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	t.Chdir(dir)
	w := NewOutput(Rules{})
	files := NewJMHFiles(w)
	files.FollowCommand(strings.Fields("java -jar b.jar -o out.txt"))
	files.follow(strings.Fields("java -jar b.jar -o out.txt"), dir, nil)
	files.follow(strings.Fields("java -jar b.jar -o "+dir+"/out.txt"), "/", nil)
	files.follow(strings.Fields("java -cp c ForkedMain 127.0.0.1 36045"), dir, nil)
	files.follow(nil, dir, nil)
	assert.Len(t, files.byPath, 1)
	require.NoError(t, os.WriteFile("out.txt", []byte(jmhHead+"# Fork: 1 of 1\nIteration   1: 1.0 ns/op\n"), 0o600))
	files.Stop()
	assert.Len(t, w.jmh.forks, 1)
	files.follow(strings.Fields("java -o late.txt"), dir, nil)
	assert.Len(t, files.byPath, 1)
}
