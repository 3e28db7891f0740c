package sockdiag

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// TestLastReceived: for data that was sent between two readings of the clock, the reported time of receipt is between
// these readings. Nobody has read the data yet, and asking later gives the same answer.
func TestLastReceived(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s: %v", address, err) // a machine without IPv6
			continue
		}
		defer listener.Close()
		client, err := net.Dial("tcp", listener.Addr().String())
		require.NoError(t, err)
		defer client.Close()
		server, err := listener.Accept()
		require.NoError(t, err)
		defer server.Close()
		port := uint16(listener.Addr().(*net.TCPAddr).Port)
		narrowest := time.Hour
		for range 5 {
			before := monotonic.Nanos()
			_, err = client.Write([]byte("data"))
			require.NoError(t, err)
			after := monotonic.Nanos()
			for _, wait := range []time.Duration{0, 1, 37 * time.Millisecond} {
				time.Sleep(wait)
				got, err := LastReceived(port)
				require.NoError(t, err)
				assert.GreaterOrEqual(t, got.Hi, before, "%s after %v: received at the latest", address, wait)
				assert.LessOrEqual(t, got.Lo, after, "%s after %v: received at the earliest", address, wait)
				narrowest = min(narrowest, time.Duration(got.Hi-got.Lo))
			}
		}
		// The limit is two ticks of the slowest kernel (HZ=100), and the time for asking.
		assert.Less(t, narrowest, 25*time.Millisecond, address)
	}
}

func TestLastReceivedOfNone(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	_, err = LastReceived(uint16(listener.Addr().(*net.TCPAddr).Port))
	assert.ErrorIs(t, err, ErrNoConnection, "one that only listens has no connection")
}

// TestSinceReceived: a message that is not in the kernel's format has no time.
func TestSinceReceived(t *testing.T) {
	message := make([]byte, messageSize)
	for _, attributes := range [][]byte{nil, {1}, {0, 0, 2, 0}, {200, 0, 2, 0}, {8, 0, 2, 0, 1, 2, 3, 4},
		{5, 0, 9, 0, 1}} {
		_, ok := sinceReceived(append(message, attributes...))
		assert.False(t, ok, "%v", attributes)
	}
	_, ok := sinceReceived(nil)
	assert.False(t, ok)
}

func BenchmarkLastReceived(b *testing.B) {
	for b.Loop() {
		_, _ = LastReceived(9)
	}
}
