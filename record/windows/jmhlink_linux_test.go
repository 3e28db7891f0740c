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

// A fork sends messages, and JMH prints each of them 200 ms later: the windows have the times of the messages. The fork
// is a connection of this process.
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
	time.Sleep(20 * time.Millisecond) // a JVM takes longer to start; two ticks
	var sent []capture.Span           // the time of a message is between two readings of the clock
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
	message() // the next iteration's, so this one's is the last but one when its line comes
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
		// A tick has at most 10 ms. The process that asks may be stopped between the question and the answer, and also
		// before it sees a message that is followed by another one.
		early, behind := time.Duration(sent[i].FromMonoNanos-mono), time.Duration(mono-sent[i].ToMonoNanos)
		t.Logf("message %d: %v early, %v late", i, early, behind)
		assert.LessOrEqual(t, early, 12*time.Millisecond+stalled, "message %d", i)
		assert.LessOrEqual(t, behind, late/2+stalled, "message %d: its line came %v late", i, late)
	}
}

// A command without a port, or in another network, is not a fork that the kernel can be asked about.
func TestJMHLinkFound(t *testing.T) {
	w := NewOutput(Rules{})
	link := newJMHLink(w)
	defer link.stop()
	self, err := foreign.Open(os.Getpid())
	require.NoError(t, err)
	for _, command := range [][]string{nil, {"java", "org.openjdk.jmh.runner.ForkedMain"}, {"org.openjdk.jmh.runner.ForkedMain", "h", "99999"}, {"org.openjdk.jmh.runner.ForkedMain", "h", "x"}} {
		link.found(self, command)
	}
	self.Close()
	link.found(self, []string{"org.openjdk.jmh.runner.ForkedMain", "h", "4711"}) // of a closed process
	assert.Zero(t, link.port.Load())
}
