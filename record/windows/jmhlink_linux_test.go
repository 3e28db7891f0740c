package windows

import (
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// TestJMHLink simulates a fork that sends messages, which JMH prints 200 ms later. The windows must have the times of
// the messages. The fork is a connection of this process.
func TestJMHLink(t *testing.T) {
	t.Parallel()
	lateness := gasmtest.Lateness(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	fork, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	defer fork.Close()
	host, err := listener.Accept()
	require.NoError(t, err)
	defer host.Close()

	const late = 200 * time.Millisecond
	w := NewOutput(Rules{})
	link := newJMHLink(w)
	port := listener.Addr().(*net.TCPAddr).Port
	self, err := foreign.Open(os.Getpid())
	require.NoError(t, err)
	defer self.Close()
	link.found(self, []string{"java", "-cp", "x", "org.openjdk.jmh.runner.ForkedMain", "127.0.0.1", fmt.Sprint(port)})
	require.EqualValues(t, port, link.port.Load())
	w.See([]byte(jmhHead+"# Measurement: 2 iterations, 300 ms each\n# Fork: 1 of 1\n"), monotonic.Nanos())
	time.Sleep(20 * time.Millisecond) // two ticks; a JVM takes longer to start
	var sent []capture.Span           // two readings of the clock, before and after each message
	message := func() {
		before := monotonic.Nanos()
		_, err := fork.Write([]byte("message"))
		require.NoError(t, err)
		sent = append(sent, capture.Span{FromMonoNanos: before, ToMonoNanos: monotonic.Nanos()})
	}
	line := func(text string) { w.See([]byte(text), monotonic.Nanos()) }
	message()
	time.Sleep(late)
	line("Iteration   1: ")
	time.Sleep(105 * time.Millisecond) // the rest of the 300 ms
	message()
	time.Sleep(15 * time.Millisecond)
	message() // the message of the next iteration; so when this one's line comes, its message is the last but one
	time.Sleep(late)
	line("1.0 ns/op\nIteration   2: ")
	time.Sleep(105 * time.Millisecond)
	message()
	time.Sleep(late)
	line("1.0 ns/op\n")
	link.stop()

	trials := w.JMHTrials([]capture.JVM{{PID: 1, Main: forkedMain, StartMonoNanos: 1}}, monotonic.Nanos())
	require.Len(t, trials, 1)
	var got []int64
	for _, window := range trials[0].Windows {
		got = append(got, window.FromMonoNanos, window.ToMonoNanos)
	}
	require.Len(t, got, 4)
	stalled := lateness()
	for i, mono := range got {
		// A tick takes at most 10 ms. The process that asks the kernel may be stopped between the question and the
		// answer, and also before it sees a message that is followed by another one.
		early, behind := time.Duration(sent[i].FromMonoNanos-mono), time.Duration(mono-sent[i].ToMonoNanos)
		t.Logf("message %d: %v early, %v late", i, early, behind)
		assert.LessOrEqual(t, early, 12*time.Millisecond+stalled, "message %d", i)
		assert.LessOrEqual(t, behind, late/2+stalled, "message %d: its line came %v late", i, late)
	}
}

// TestJMHLinkFound checks that a fork is ignored if its command has no port, or if it is in another network, because
// then gasm can't ask the kernel about it.
func TestJMHLinkFound(t *testing.T) {
	w := NewOutput(Rules{})
	link := newJMHLink(w)
	defer link.stop()
	self, err := foreign.Open(os.Getpid())
	require.NoError(t, err)
	for _, command := range [][]string{nil, {"java", "org.openjdk.jmh.runner.ForkedMain"},
		{"org.openjdk.jmh.runner.ForkedMain", "h", "99999"}, {"org.openjdk.jmh.runner.ForkedMain", "h", "x"}} {
		link.found(self, command)
	}
	self.Close()
	link.found(self, []string{"org.openjdk.jmh.runner.ForkedMain", "h", "4711"}) // its process is closed
	assert.Zero(t, link.port.Load())
}
