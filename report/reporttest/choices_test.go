package reporttest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/profile/windows"
)

// The window and the safepoint in the capture that writeWindowed writes, as indices of samples. The samples are a
// millisecond apart.
const (
	windowFrom, windowTo       = 50, 900
	safepointFrom, safepointTo = 350, 450
)

// writeWindowed writes the capture of WriteStacks with a window, as with --delay and --length, and with a safepoint.
func writeWindowed(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	WriteStacks(t, dir)
	c, err := capture.Open(dir)
	require.NoError(t, err)
	d := c.Description
	c.Close()
	at := func(sample int) int64 { return 10e9 + int64(sample)*1e6 + 5e5 }
	d.Trials = []capture.Trial{{Windows: []capture.Window{{PID: StacksPID,
		Span: capture.Span{FromMonoNanos: at(windowFrom), ToMonoNanos: at(windowTo)}}}}}
	d.JVMs[0].EventLog = capture.EventLog(StacksPID)
	length := at(safepointTo) - at(safepointFrom)
	log :=
		fmt.Sprintf("[%dns][101][safepoint   ] Safepoint \"Cleanup\", Time since last: 5 ns, Reaching safepoint: %d ns, At safepoint: %d ns, Total: %d ns\n",
			at(safepointTo), length/2, length/2, length)
	require.NoError(t, os.WriteFile(filepath.Join(dir, d.JVMs[0].EventLog), []byte(log), 0o600))
	require.NoError(t, d.Write(dir))
	return dir
}

// A flagChoice is a combination of the flags that choose samples.
type flagChoice struct{ thread, under, method, event string }

func (c flagChoice) options(t *testing.T) choice.Options {
	t.Helper()
	o := withStacks()
	var err error
	o.Threads, err = threads.ParseChoice(c.thread)
	require.NoError(t, err)
	o.WindowEvent, err = windows.ParseEventChoice(c.event)
	require.NoError(t, err)
	o.Under, o.WindowMethod = calltree.Pattern(c.under), c.method
	o.By = []calltree.Pattern{"Users::find", "Main::main"}
	return o
}

// has reports whether a sample has a frame of a method, given with its package.
func (s *StackSample) has(method string) bool {
	return slices.ContainsFunc(s.Frames, func(f callstack.Frame) bool { return f.Name == method })
}

// want returns what the account must say, and how the samples are divided between the methods of --by.
func (c flagChoice) want() (a profile.Account, by [3]int64) {
	const find, main = "com.acme.Users::find", "com.acme.Main::main"
	n := 0
	for _, s := range StackSamples() {
		for range s.N {
			n++
			inSafepoint := n > safepointFrom && n <= safepointTo
			a.Total++
			switch {
			case n <= windowFrom || n > windowTo || c.event == "safepoint" && !inSafepoint || c.event == "!safepoint" &&
				inSafepoint:
				a.OutsideWindow++
			case c.thread == "gc" && s.Thread != "GC Thread#0" || c.thread != "" && c.thread != "gc" &&
				!strings.HasPrefix(s.Thread, c.thread):
				a.OtherThread++
			case c.method != "" && !s.has(strings.TrimSuffix(c.method, "*")):
				a.OutsideMethod++
			case c.under != "" && !s.has(c.under):
				a.NotUnder++
			default:
				a.Profiled++
				switch {
				case s.has(find):
					by[0]++
				case s.has(main):
					by[1]++
				default:
					by[2]++
				}
			}
		}
	}
	return a, by
}

// All combinations of --thread, --under, --window-method, --window-event and a window by time choose the samples that
// pass all of them. --by divides these samples, and no sample is missing from the account.
func TestChoicesByStack(t *testing.T) {
	dir := writeWindowed(t)
	for _, thread := range []string{"", "main", "http-", "gc"} {
		for _, under := range []string{"", "com.acme.Users::find", "java.util.HashMap::getNode", "clone3"} {
			for _, method := range []string{"", "com.acme.Server::handle", "com.acme.Main::main*", "java.util.HashMap::get"} {
				for _, event := range []string{"", "safepoint", "!safepoint"} {
					c := flagChoice{thread, under, method, event}
					want, by := c.want()
					_, p := profileOf(t, dir, c.options(t))
					if want.Profiled == 0 {
						assert.True(t, p.Accounts == nil || p.Accounts[0].Profiled == 0, "%+v", c)
						continue
					}
					got := p.Accounts[0]
					require.Equal(t, want, profile.Account{Total: got.Total, OutsideWindow: got.OutsideWindow,
						OtherThread:   got.OtherThread,
						OutsideMethod: got.OutsideMethod, NotUnder: got.NotUnder, Profiled: got.Profiled}, "%+v", c)
					require.Equal(t, got.Profiled, got.Whole+got.Cut+got.Frozen+got.Unwalked, "%+v", c)
					require.Len(t, p.By, 3)
					for i := range by {
						require.Equal(t, by[i], p.By[i].Counts[0], "%+v: %q", c, p.By[i].Method)
					}
				}
			}
		}
	}
}

// The profile says how many of the omitted samples may have the method among the missing frames of an incomplete stack.
func TestDoubtfulSamples(t *testing.T) {
	dir := t.TempDir()
	WriteStacks(t, dir)
	var want int64
	for _, s := range StackSamples() {
		if s.Frames[len(s.Frames)-1].Kind.Mark() && !s.has("com.acme.Users::find") {
			want += int64(s.N)
		}
	}
	for _, c := range []flagChoice{{under: "com.acme.Users::find"}, {method: "com.acme.Users::find"}} {
		ps, _ := profileOf(t, dir, c.options(t))
		o := c.options(t)
		assert.Contains(t, ps.Capture.Notes,
			fmt.Sprintf("%d samples that are left out (%s) have call stacks that are not whole: the method may be among the missing frames", want, o.Chosen()))
	}
}

// A --window-method that can't be found is refused, and the message says what to do.
func TestWindowMethodRefused(t *testing.T) {
	dir := t.TempDir()
	WriteStacks(t, dir)
	check := func(method, want string) {
		t.Helper()
		c, err := capture.Open(dir)
		require.NoError(t, err)
		defer c.Close()
		o := withStacks()
		o.WindowMethod = method
		_, err = profile.Of(c, o)
		assert.EqualError(t, err, want)
	}
	check("com.acme.Users::find(int)",
		"--window-method: the capture has no such window, only call stacks: call stacks do not have the types of arguments: leave out the (…)")
	check("find",
		`--window-method: the capture has no such window, only call stacks: "find" is not a method: use CLASS::METHOD, such as java.util.HashMap::get`)
	require.NoError(t, os.Remove(filepath.Join(dir, capture.StacksFile)))
	check("com.acme.Users::find",
		"--window-method com.acme.Users::find: the capture has no such window, and no call stacks; record one of them: gasm profile --window-method, or --stacks on")
}
