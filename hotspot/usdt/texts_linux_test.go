package usdt

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/foreign"
	"github.com/gasm-profiler/gasm/internal/native"
)

// TestTextCache checks that the texts of a JVM take a bounded amount of memory, however long they are.
func TestTextCache(t *testing.T) {
	memory := bytes.Repeat([]byte("x"), longestText+2000)
	p, err := foreign.Open(os.Getpid())
	require.NoError(t, err)
	defer p.Close()
	c := newTextCache(p)
	at := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(memory))))
	for i := range uint64(2000) {
		text, ok := c.text(at+i, longestText)
		require.True(t, ok)
		require.Equal(t, memory[:longestText], text)
		kept := 0
		for _, text := range c.read {
			kept += len(text)
		}
		require.LessOrEqual(t, kept, mostTextBytes)
		require.Equal(t, kept, c.bytes)
	}
	_, ok := c.text(at, longestText+1)
	assert.False(t, ok)

	child := exec.Command("true")
	require.NoError(t, child.Start())
	ended, err := foreign.Open(child.Process.Pid)
	require.NoError(t, err)
	defer ended.Close()
	require.NoError(t, child.Wait())
	_, ok = newTextCache(ended).text(at, 10)
	assert.False(t, ok)
}

// TestTextsOfEndedJVM checks that a text that was read a moment ago is still known after the JVM has ended. The JVM's
// last events are read after its end, and perhaps after all texts were forgotten.
func TestTextsOfEndedJVM(t *testing.T) {
	child := exec.Command("sleep", "60")
	require.NoError(t, child.Start())
	p, err := foreign.Open(child.Process.Pid)
	require.NoError(t, err)
	defer p.Close()
	maps, err := native.ReadMaps(child.Process.Pid)
	require.NoError(t, err)
	at := maps[0].Lo
	c := newTextCache(p)
	want, ok := c.text(at, 4)
	require.True(t, ok)
	now := time.Now()
	c.age(now)
	require.NoError(t, child.Process.Kill())
	_ = child.Wait() // the error says that it was killed
	text, ok := c.text(at, 4)
	assert.True(t, ok)
	assert.Equal(t, want, text)
	_, ok = c.text(at, 5)
	assert.False(t, ok, "was never read")
	c.age(now.Add(2 * textsLive))
	_, ok = c.text(at, 4)
	assert.True(t, ok)
}

// TestDTraceTexts checks the same for the texts that DTrace reads.
func TestDTraceTexts(t *testing.T) {
	d := newDTraced(nil)
	long := bytes.Repeat([]byte("x"), longestDTraceText)
	for i := range uint64(3 * mostTextBytes / longestDTraceText) {
		d.keep(i, longestDTraceText, bytes.Clone(long))
	}
	assert.LessOrEqual(t, len(d.texts), 2*mostTextBytes/longestDTraceText)
	d.forget()
	assert.Empty(t, d.texts)
	d.keep(1, 3, []byte("abc"))
	_, ok := d.text(1, 3)
	assert.True(t, ok)
}
