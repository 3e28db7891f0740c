package virtualthreads

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/jcmd"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// TestThreadDump compares all stacks of virtual threads with those that the JVM itself writes.
func TestThreadDump(t *testing.T) {
	eachMode(t, true, func(t *testing.T, j gasmtest.JDK, flags []string) {
		monitors := 0
		if j.Feature >= 24 {
			monitors = 10
		}
		pid := start(t, j, append(slices.Clone(flags), "Unmounted", "40", "30", "20", "10", strconv.Itoa(monitors))...)
		c := open(t, pid)
		want := map[key]int{{"Unmounted::sleeping", Sleeping, ""}: 40, parkedKey: 31,
			{"Unmounted::reading", Socket, ""}: 20, {"Unmounted::locking", Parked, nonfair}: 10}
		if monitors > 0 {
			want[key{"Unmounted::monitor", Blocked, ""}] = monitors
		}
		n, _ := wait(t, c, want)
		got := map[string]int{}
		for i := range n.Places {
			got[visible(&n.Places[i])] += n.Places[i].Count
		}
		assert.Equal(t, dumped(t, pid), got)
	})
}

// hidden matches frames that the JVM does not show: methods with the annotation Hidden, and lambdas' own classes.
var hidden = regexp.MustCompile(`^jdk\.internal\.vm\.Continuation::|^java\.lang\.VirtualThread::yieldContinuation$|` +
	`^java\.lang\.VirtualThread\$VThreadContinuation\$1::run$|::runWith$|\$\$Lambda`)

// visible returns the frames of a place that the JVM shows, each as "Class.method:line".
func visible(p *Place) string {
	var text []string
	for i := range p.Frames {
		if f := &p.Frames[i]; !hidden.MatchString(f.Name) {
			text = append(text, strings.Replace(f.Name, "::", ".", 1)+":"+strconv.Itoa(max(f.Line, 0)))
		}
	}
	return strings.Join(text, " ")
}

// frame matches a frame in the JVM's dump: "java.base/java.lang.VirtualThread.run(VirtualThread.java:460)".
var frame = regexp.MustCompile(`^(?:\S+/)?([^\s/(]+)\((?:[^:()]*:(\d+)|[^:()]*)\)$`)

// dumped returns how many virtual threads have which frames, from a dump that the JVM writes itself.
func dumped(t *testing.T, pid int) map[string]int {
	t.Helper()
	file := filepath.Join(programs.Of(t, "Unmounted.java"), strconv.Itoa(pid)+".json") // jcmd's commands can't have the "=" of t.TempDir
	process, err := foreign.Open(pid)
	require.NoError(t, err)
	defer process.Close()
	_, err = jcmd.Run(context.Background(), process, "Thread.dump_to_file -format=json "+file)
	require.NoError(t, err)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var dump struct {
		ThreadDump struct {
			ThreadContainers []struct {
				Threads []struct{ Stack []string }
			}
		}
	}
	require.NoError(t, json.Unmarshal(data, &dump))
	all := map[string]int{}
	for _, container := range dump.ThreadDump.ThreadContainers {
		for _, thread := range container.Threads {
			var text []string
			for _, line := range thread.Stack {
				m := frame.FindStringSubmatch(line)
				require.NotNil(t, m, line)
				if m[2] == "" {
					m[2] = "0"
				}
				text = append(text, m[1]+":"+m[2])
			}
			if len(text) > 0 && strings.HasPrefix(text[len(text)-1], "java.lang.VirtualThread.run:") {
				all[strings.Join(text, " ")]++
			}
		}
	}
	return all
}
