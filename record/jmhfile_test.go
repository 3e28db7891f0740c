package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
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
// windows as on stdout. The file has the text of an older run before.
func TestJMHFile(t *testing.T) {
	for _, old := range []bool{false, true} {
		chunks := recording(t, "two-forks")
		path := filepath.Join(t.TempDir(), "out.txt")
		if old {
			var text []byte
			for _, c := range chunks {
				text = append(text, c.text...)
			}
			require.NoError(t, os.WriteFile(path, text[:len(text)*2/3], 0o600))
		}
		w := newOutputWatch(nil, nil)
		f := followJMHFile([]string{"java", "-jar", "b.jar", "-o", path}, w.jmhFile.See)
		time.Sleep(50 * time.Millisecond)
		file, err := os.Create(path)
		require.NoError(t, err)
		began := capture.MonoNanos()
		var moved []chunk // the recording at the times at which it was written now
		for _, c := range chunks {
			// Four times as fast as it was. A fork still starts 40 ms behind its announcement.
			time.Sleep(time.Duration(began + c.at/4 - capture.MonoNanos()))
			moved = append(moved, chunk{capture.MonoNanos(), c.text})
			_, err := file.Write(c.text)
			require.NoError(t, err)
		}
		time.Sleep(20 * time.Millisecond)
		require.NoError(t, file.Close())
		f.stop()
		_, want := trialsOf(jvmsOf(moved), moved)
		got := w.JMHTrials(jvmsOf(moved), last(moved))
		require.Len(t, got, 1)
		assert.Equal(t, want[0].Name, got[0].Name)
		require.Len(t, got[0].Windows, len(want[0].Windows), "old %v", old)
		for i, win := range got[0].Windows {
			// inotify tells within a millisecond, unless another process has the processor.
			assert.InDelta(t, want[0].Windows[i].FromMonoNanos, win.FromMonoNanos, 50e6, "old %v, window %d begins", old, i)
			assert.InDelta(t, want[0].Windows[i].ToMonoNanos, win.ToMonoNanos, 50e6, "old %v, window %d ends", old, i)
		}
	}
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
