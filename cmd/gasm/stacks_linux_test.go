package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/stack"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/schema"
)

// stackNode returns the node of a thread, or of a method that the thread calls through the methods before it.
func stackNode(t *testing.T, p *schema.Profile, path ...string) *schema.StackNode {
	t.Helper()
	at := 0
	for _, name := range path {
		found := -1
		for i, n := range p.Stacks.Nodes {
			if n.Parent == at && n.Name == name {
				found = i
			}
		}
		require.GreaterOrEqual(t, found, 0, "%q of %q", name, path)
		at = found
	}
	return &p.Stacks.Nodes[at]
}

// The call stacks of a JVM that was started without an option are whole, and say who called what.
func TestStacksLive(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	gasmtest.NeedTime(t)
	if !stack.Supported() {
		t.Skip("stacks are not walked on this kind of processor")
	}
	classPath := programs8(t, "Stacks")
	for _, jdk := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature >= 8 }) {
		t.Run(jdk.Name(), func(t *testing.T) {
			dir, file := filepath.Join(t.TempDir(), "capture"), filepath.Join(t.TempDir(), "report.json")
			// The recording lasts until the JVM has used some CPU time: on a busy machine, a fixed time may have too
			// few samples to compare shares. gasm has a small part of the processors beside the program's 20 threads, and
			// reads libraries and code first. At Ctrl-C, it walks for only 0.6 s more, so it must have caught up by then.
			attachUntilUsed(t, 10*time.Second,
				[]string{jdk.Java(), "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Stacks::work", "-cp", classPath,
					"Stacks", "forever"},
				[]string{"--format", "json", "--report", file, "--stacks", "-o", dir, "--skip-asm", "--tree=0.01%"})
			rep := readReport(t, readFile(t, file))
			require.Len(t, rep.Profiles, 1)
			p := &rep.Profiles[0]
			event := hottestEvent(p)
			a := p.Account.Of(event)
			t.Logf("%d samples, %d whole, %d cut, %d not walked", a.Profiled, a.StackWhole, a.StackCut, a.StackUnwalked)
			assert.GreaterOrEqual(t, float64(a.StackWhole), 0.99*float64(a.Profiled),
				"0.995 is measured in hotspot/stack; here are starts of threads, too")
			assert.Equal(t, a.Profiled, a.StackWhole+a.StackCut+a.StackFrozen+a.StackUnwalked)
			thread := stackNode(t, p, "recursion").Counts.Of(event)
			under := readReport(t, []byte(reportOf(t, "--format", "json", "--skip-asm", "--under", "Stacks::recursion", dir)))
			within := under.Profiles[0].Account.Of(event).Profiled
			t.Logf("%d samples in the thread, %d of them under the method", thread, within)
			assert.LessOrEqual(t, within, thread)
			assert.GreaterOrEqual(t, float64(within), 0.9*float64(thread), "the thread does nothing else")
		})
	}
}
