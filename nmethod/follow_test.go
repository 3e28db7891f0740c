package nmethod

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func tag(id int, compiler string) string {
	return fmt.Sprintf("<nmethod compile_id='%d' compiler='%s' level='3' size='400' address='0x0000000000001000' insts_offset='100' "+
		"method='a/B c%d ()V' bytes='3' stamp='0.100'/>\n", id, compiler, id)
}

// TestTake feeds a log in pieces of each size: the methods are the same, whatever
// lines are cut in two.
func TestTake(t *testing.T) {
	log := "<hotspot_log >\n" + tag(1, "c1") + "  0x00: mov\n" + tag(2, "c2") + tag(3, "c1") + "\n" + tag(4, "") + "<nmethod compile_id='5'/>\n x " + tag(6, "c1") + tag(7, "c1")
	for size := 1; size <= len(log); size++ {
		f := Follower{pid: -1, what: C1}
		for rest := log; rest != ""; {
			n := min(size, len(rest))
			f.take([]byte(rest[:n]))
			rest = rest[n:]
		}
		require.Equal(t, 4, f.result.Late, "pieces of %d bytes: methods 1, 3, 4 and 7", size)
	}
}

// TestFollowGrowing writes a log bit by bit, with pauses longer than those after
// which only a write wakes the Follower.
func TestFollowGrowing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	log, err := os.Create(path)
	require.NoError(t, err)
	defer log.Close()
	f, err := Follow(-1, C1|C2, path, filepath.Join(dir, "spool"))
	require.NoError(t, err)
	for i := range 3 {
		time.Sleep(longestPause * 4)
		_, err := log.WriteString(tag(i, "c2"))
		require.NoError(t, err)
	}
	_, err = log.WriteString(strings.TrimSuffix(tag(9, "c1"), "\n")) // and no end of the line
	require.NoError(t, err)
	assert.Equal(t, 3, f.Stop().Late)
	require.NoError(t, f.AppendTo(path), "nothing to append")
}

func TestFollowNothing(t *testing.T) {
	_, err := Follow(1, C1, filepath.Join(t.TempDir(), "none"), "")
	require.ErrorIs(t, err, os.ErrNotExist)
}
