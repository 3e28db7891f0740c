package windows

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gasm-profiler/gasm/internal/monotonic"
)

var classPath = flag.String("record", "", "run JMH from this `classpath` and rewrite testdata/*.rec")

// A chunk is what one read of JMH's stdout returned.
type chunk struct {
	at   int64 // ns since the start of the command
	text []byte
}

// recordings lists runs of JMH that are recorded: see testdata/README.md.
var recordings = []struct {
	name string
	args string
	kill string // end JMH with SIGKILL when it has printed this
}{
	{name: "two-forks", args: "VectorSum -f 2 -wi 1 -i 3"},
	{name: "many", args: "VectorSum|MathLog -f 1 -wi 1 -i 2 -p size=16,1024"},
	{name: "host", args: "VectorSum|MathLog -f 0 -wi 1 -i 2"},
	{name: "warmup-forks", args: "VectorSum -wf 1 -f 2 -wi 1 -i 2"},
	{name: "modes", args: "VectorSum -bm avgt,thrpt,sample,ss -f 1 -wi 1 -i 2"},
	{name: "no-warmup", args: "VectorSum -f 1 -wi 0 -i 2"},
	{name: "bulk", args: "VectorSum|MathLog -wm BULK -f 1 -wi 1 -i 2"},
	{name: "gc-profiler", args: "VectorSum -prof gc -f 1 -wi 1 -i 2"},
	{name: "seconds", args: "VectorSum -tu s -f 1 -wi 1 -i 2"},
	{name: "threads", args: "VectorSum -t 2 -f 1 -wi 1 -i 2"},
	{name: "noisy", args: "Noisy -p what=lines -f 2 -wi 1 -i 2"},
	{name: "dots", args: "Noisy -p what=dots -f 1 -wi 1 -i 3"},
	{name: "halt", args: "Noisy -p what=halt,dots -f 2 -wi 1 -i 4"},
	{name: "failing", args: "Noisy -p what=fail,dots -f 1 -wi 0 -i 2"},
	{name: "failing-stop", args: "Noisy -p what=fail,dots -f 1 -wi 0 -i 2 -foe true"},
	{name: "killed", args: "VectorSum -f 1 -wi 1 -i 5", kill: "Iteration   2: "},
}

// TestRecord makes the recordings, if the test's flag asks for that.
func TestRecord(t *testing.T) {
	if *classPath == "" {
		t.Skip("only with -record")
	}
	for _, r := range recordings {
		args := append([]string{"-cp", *classPath, "org.openjdk.jmh.Main"}, strings.Fields(r.args)...)
		args = append(args, "-w", "100ms", "-r", "200ms")
		cmd := exec.Command("java", args...)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		began := monotonic.Nanos()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var rec, all bytes.Buffer
		buf := make([]byte, 1<<16)
		for {
			n, err := out.Read(buf)
			if n > 0 {
				fmt.Fprintf(&rec, "%d %s\n", (monotonic.Nanos()-began)/1000, strconv.Quote(string(buf[:n])))
				all.Write(buf[:n])
			}
			if r.kill != "" && bytes.Contains(all.Bytes(), []byte("\n"+r.kill)) {
				cmd.Process.Kill()
			}
			if err != nil {
				break
			}
		}
		cmd.Wait()
		if err := os.WriteFile(filepath.Join("testdata", r.name+".rec"), rec.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// recording reads testdata/<name>.rec.
func recording(t testing.TB, name string) []chunk {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".rec"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var chunks []chunk
	for r := bufio.NewReader(f); ; {
		line, err := r.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return chunks
		}
		at, quoted, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		us, err := strconv.ParseInt(at, 10, 64)
		text, err2 := strconv.Unquote(quoted)
		if err := errors.Join(err, err2); err != nil {
			t.Fatalf("%s: %q: %v", f.Name(), line, err)
		}
		chunks = append(chunks, chunk{us * 1000, []byte(text)})
	}
}
