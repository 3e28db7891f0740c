package nmethod

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

func tag(id int, compiler string) string {
	return fmt.Sprintf("<nmethod compile_id='%d' compiler='%s' level='3' size='400' address='0x0000000000001000' insts_offset='100' "+
		"method='a/B c%d ()V' bytes='3' stamp='0.100'/>\n", id, compiler, id)
}

// TestTake feeds a log in chunks of each size: the methods are the same, whatever lines
// are cut.
func TestTake(t *testing.T) {
	log := "<hotspot_log >\n" + tag(1, "c1") + "  0x00: mov\n" + tag(2, "c2") + tag(3, "c1") + "\n" + tag(4, "") + "<nmethod compile_id='5'/>\n x " + tag(6, "c1") + tag(7, "c1")
	for size := 1; size <= len(log); size++ {
		f := Follower{pid: -1, compilers: C1}
		for rest := log; rest != ""; {
			n := min(size, len(rest))
			f.take([]byte(rest[:n]))
			rest = rest[n:]
		}
		require.Equal(t, 4, f.result.Late+f.result.Missed, "chunks of %d bytes: methods 1, 3, 4 and 7", size)
	}
}

// TestFollowGrowing writes a log in parts, with pauses after which only a write wakes
// the Follower. Each method is copied before the next one is written.
func TestFollowGrowing(t *testing.T) {
	j := newFakeJVM(25)
	var tags []string
	for range 3 {
		_, tag := j.addCode(roundTrips["inlined"].code)
		tags = append(tags, tag)
	}
	dir := t.TempDir()
	path, copies := filepath.Join(dir, "log"), filepath.Join(dir, "copies")
	log, err := os.Create(path)
	require.NoError(t, err)
	defer log.Close()
	f, err := newFollower(-1, C1, path, copies)
	require.NoError(t, err)
	f.copier = j.copier(t)
	go f.run()
	for i, tag := range tags {
		time.Sleep(longestPause * 4)
		_, err := log.WriteString(tag)
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			text, err := os.ReadFile(copies)
			return err == nil && strings.Count(string(text), "\n[/MachCode]\n") == i+1
		}, 20*time.Second, time.Millisecond)
	}
	_, err = log.WriteString(strings.TrimSuffix(tags[0], "\n")) // and no end of the line
	require.NoError(t, err)
	assert.Equal(t, Result{Copied: 3}, f.Stop())
	require.NoError(t, f.AppendTo(path))
}

// TestFollowEnded follows the log of a process that is not there.
func TestFollowEnded(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	require.NoError(t, os.WriteFile(path, []byte(tag(1, "c2")+tag(2, "c1")), 0o600))
	f, err := Follow(-1, C1|C2, path, filepath.Join(dir, "copies"))
	require.NoError(t, err)
	result := f.Stop()
	assert.Equal(t, 2, result.Late+result.Missed, "missed on systems other than Linux")
	require.NoError(t, f.AppendTo(path))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, tag(1, "c2")+tag(2, "c1"), string(text), "there is nothing to append")
}

func TestFollowNothing(t *testing.T) {
	_, err := Follow(1, C1, filepath.Join(t.TempDir(), "none"), "")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// followMemory makes a Follower of a JVM that is only memory, with copies in a file. It
// has taken the log, and given its text to the file.
func followMemory(t *testing.T, copiesDir string, methods int) *Follower {
	t.Helper()
	j := newFakeJVM(25)
	var log strings.Builder
	for range methods {
		_, tag := j.addCode(roundTrips["inlined"].code)
		log.WriteString(tag)
	}
	copies, err := os.OpenFile(filepath.Join(copiesDir, "copies"), os.O_CREATE|os.O_RDWR, 0o600)
	require.NoError(t, err)
	f := &Follower{compilers: C1, copier: j.copier(t), copies: copies}
	f.take([]byte(log.String()))
	f.flush()
	return f
}

func TestAppendTo(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	require.NoError(t, os.WriteFile(path, []byte("<hotspot_log>\n"), 0o600))
	f := followMemory(t, dir, 3)
	require.Equal(t, Result{Copied: 3}, f.result)
	require.NoError(t, f.AppendTo(path))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	copies, found := strings.CutPrefix(string(text), "<hotspot_log>\n\n<writer thread='gasm'/>\nCompiled method (c1)")
	assert.True(t, found, "%s", text)
	assert.Equal(t, 2, strings.Count(copies, "\nCompiled method (c1)"))
	assert.Equal(t, 3, strings.Count(copies, "\n[/MachCode]\n"))

	f = followMemory(t, dir, 1)
	require.ErrorIs(t, f.AppendTo(filepath.Join(dir, "none")), os.ErrNotExist)
}

// TestFullDisk: copying ends with the first error of the disk.
func TestFullDisk(t *testing.T) {
	f := followMemory(t, gasmtest.NeedSmallDisk(t, "16k"), 50)
	require.ErrorIs(t, f.result.Disk, syscall.ENOSPC)
	require.ErrorContains(t, f.result.Disk, "writing the copied code")
	j := newFakeJVM(25)
	_, tag := j.addCode(roundTrips["inlined"].code)
	f.copier = j.copier(t)
	f.take([]byte(tag))
	assert.Equal(t, 50, f.result.Copied, "no more after that")
	f.copies.Close()
}
