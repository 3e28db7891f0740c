package collectortest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// totals are sums of profiles, by stack from the outermost frame to the innermost.
type totals struct {
	profiles     int
	samples, cpu map[string]int64
}

func newTotals() totals { return totals{samples: map[string]int64{}, cpu: map[string]int64{}} }

// TestWatch runs gasm watch for a JVM, and compares what arrives in a collector with what gasm writes to its standard
// output: each stack with its samples and its CPU time.
func TestWatch(t *testing.T) {
	if !gasmtest.Whole() {
		t.Skip("the collector takes minutes to compile: GASM_TESTS=all")
	}
	gasmtest.NeedNative(t)
	java := gasmtest.NeedJava(t)
	dir := t.TempDir()
	gasmtest.CompileJava(t, dir, 8, gasmtest.Testdata("programs/Phases.java"))
	binary := filepath.Join(dir, "gasm")
	build := exec.Command("go", "build", "-o", binary, "./cmd/gasm")
	build.Dir = filepath.Dir(gasmtest.Testdata())
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	jvm := exec.Command(java, "-cp", dir, "Phases")
	jvm.Env = append(jvm.Environ(), "OTEL_SERVICE_NAME=shop",
		"OTEL_RESOURCE_ATTRIBUTES=service.version=1.2,deployment.environment=test")
	in, err := jvm.StdinPipe() // the program ends when it is closed
	require.NoError(t, err)
	defer in.Close()
	require.NoError(t, jvm.Start())
	t.Cleanup(func() {
		_ = jvm.Process.Kill()
		_ = jvm.Wait()
	})
	received := &kept{}
	address := startCollector(t, received)
	watch := exec.Command(binary, "watch", "--every", "5s", "--to", "-", "--to", "otlp+http://"+address,
		strconv.Itoa(jvm.Process.Pid))
	var stdout, stderr bytes.Buffer
	watch.Stdout, watch.Stderr = &stdout, &stderr
	gasmtest.Start(t, watch)
	require.Eventually(t, func() bool {
		received.mu.Lock()
		defer received.mu.Unlock()
		return len(received.all) >= 2
	}, 3*time.Minute, 10*time.Millisecond, "profiles")
	require.NoError(t, watch.Process.Signal(syscall.SIGTERM))
	require.NoError(t, watch.Wait(), "%s", &stderr)

	want := written(t, &stdout)
	require.Greater(t, len(want.samples), 1)
	got := newTotals()
	for _, p := range received.all {
		arrived(t, p, jvm.Process.Pid, &got)
	}
	assert.Equal(t, want, got, "%s", &stderr)
}

// written adds up the lines of JSON that gasm has written.
func written(t *testing.T, out *bytes.Buffer) totals {
	sums := newTotals()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<26)
	for ; lines.Scan(); sums.profiles++ {
		var line struct {
			Samples int64
			CPU     int64 `json:"cpu_nanoseconds"`
			Stacks  []struct {
				Samples int64
				Frames  []string
			}
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &line))
		for _, s := range line.Stacks {
			key := strings.Join(s.Frames, "\n")
			sums.samples[key] += s.Samples
			sums.cpu[key] += line.CPU / line.Samples * s.Samples
		}
	}
	require.NoError(t, lines.Err())
	return sums
}

// arrived adds up what the collector has received, and checks the attributes of the resource.
func arrived(t *testing.T, all pprofile.Profiles, pid int, to *totals) {
	d := all.Dictionary()
	for _, rp := range all.ResourceProfiles().All() {
		attributes := rp.Resource().Attributes().AsRaw()
		delete(attributes, "host.name")
		delete(attributes, "container.id")
		assert.Equal(t, map[string]any{"service.name": "shop", "service.version": "1.2",
			"deployment.environment": "test", "process.pid": int64(pid)}, attributes)
		for _, sp := range rp.ScopeProfiles().All() {
			require.Equal(t, 2, sp.Profiles().Len())
			to.profiles++
			for i, sums := range []map[string]int64{to.samples, to.cpu} {
				p := sp.Profiles().At(i)
				assert.Equal(t, []string{"samples count", "cpu nanoseconds"}[i],
					d.StringTable().At(int(p.SampleType().TypeStrindex()))+" "+
						d.StringTable().At(int(p.SampleType().UnitStrindex())))
				assert.False(t, p.ProfileID().IsEmpty())
				for _, s := range p.Samples().All() {
					require.Equal(t, 1, s.Values().Len())
					sums[stackOf(d, int(s.StackIndex()))] += s.Values().At(0)
				}
			}
		}
	}
}

func stackOf(d pprofile.ProfilesDictionary, stack int) string {
	var frames []string
	for _, location := range d.StackTable().At(stack).LocationIndices().All() {
		for _, line := range d.LocationTable().At(int(location)).Lines().All() {
			frame := d.StringTable().At(int(d.FunctionTable().At(int(line.FunctionIndex())).NameStrindex()))
			if line.Line() > 0 {
				frame += fmt.Sprintf(":%d", line.Line())
			}
			frames = append(frames, frame)
		}
	}
	slices.Reverse(frames)
	return strings.Join(frames, "\n")
}
