package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Where JMH writes to, by what its parser makes of a command line.
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

// The text of a real run, written into a file as JMH writes it, gives the same trials and
// windows as on stdout. The file may have the text of an older run before.
func TestJMHFile(t *testing.T) {
	for _, r := range recordings {
		chunks := recording(t, r.name)
		for _, old := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "out.txt")
			if old {
				require.NoError(t, os.WriteFile(path, []byte(jmhHead+"# Fork: 1 of 1\nIteration   7: 1.0 ns/op\n"), 0o600))
				require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)))
			}
			w := newOutputWatch(nil, nil)
			f := newJMHFile(path, w.jmhFile.See)
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

// What is written is seen soon, also in a folder that is made later.
func TestJMHFileFollowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "out.txt")
	seen := make(chan string, 100)
	f := followJMHFile([]string{"java", "-jar", "b.jar", "-o", path}, func(out []byte, _ int64) { seen <- string(out) })
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
	require.NotEmpty(t, seen)
	assert.Equal(t, "the rest", <-seen)
}

// An older run's file that JMH never opens is not read, nor is what is no file.
func TestJMHFileUnused(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old.txt")
	require.NoError(t, os.WriteFile(old, []byte(jmhHead+"# Fork: 1 of 1\nIteration   1: 1.0 ns/op\n"), 0o600))
	for _, path := range []string{old, dir, "/dev/zero", filepath.Join(dir, "none", "none")} {
		f := followJMHFile([]string{"java", "-o", path}, func(out []byte, _ int64) { t.Errorf("%s: %.30q", path, out) })
		time.Sleep(50 * time.Millisecond)
		f.stop()
	}
	followJMHFile([]string{"java"}, nil).stop()
}
