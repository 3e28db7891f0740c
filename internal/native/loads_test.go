package native

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newReading returns a reading without the limits of other tests.
func newReading(t testing.TB) *reading { return &reading{ctx: t.Context(), left: maxMemory} }

// A hostileTable describes an ELF file with a symbol table.
type hostileTable struct {
	symbols, names uint64 // the sizes of the sections in bytes
	written        int    // number of functions that are written; the rest of the table is a hole in the file
	sameAddress    bool   // all functions start at one address
}

// write writes the file, which is sparse.
func (h hostileTable) write(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	const code, at = 1 << 16, 1 << 20
	put := func(value any) { require.NoError(t, binary.Write(f, binary.LittleEndian, value)) }
	put(elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT), Ehsize: 64,
		Phoff: 64, Phentsize: 56, Phnum: 1, Shoff: 120, Shentsize: 64, Shnum: 4,
	})
	put(elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Filesz: code, Memsz: code})
	put(elf.Section64{})
	put(elf.Section64{Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_EXECINSTR), Size: code})
	put(elf.Section64{Type: uint32(elf.SHT_SYMTAB), Off: at, Size: h.symbols, Link: 3, Entsize: elf.Sym64Size})
	put(elf.Section64{Type: uint32(elf.SHT_STRTAB), Off: at + h.symbols, Size: h.names})
	symbols := make([]elf.Sym64, h.written)
	for i := range symbols {
		symbols[i] = elf.Sym64{Name: 1, Info: byte(elf.STT_FUNC), Shndx: 1, Size: 16}
		if !h.sameAddress {
			symbols[i].Value = uint64(i)
		}
	}
	_, err = f.Seek(at, io.SeekStart)
	require.NoError(t, err)
	put(symbols)
	_, err = f.WriteAt([]byte(strings.Repeat("n", int(min(h.names, 1<<16)-2))), int64(at+h.symbols+1))
	require.NoError(t, err)
	require.NoError(t, f.Truncate(int64(at+h.symbols+h.names)))
	return path
}

// mostMemory returns by how many bytes the memory that the process had from the system grew while f ran, at the highest
// point.
func mostMemory(f func()) (most uint64) {
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.Sys - m.HeapReleased
	}
	runtime.GC()
	before, done := inUse(), make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	for {
		select {
		case <-done:
			return most
		case <-time.After(5 * time.Millisecond):
			if now := inUse(); now > before {
				most = max(most, now-before)
			}
		}
	}
}

// TestHostileFiles: files that take a few kB on the disk, but gigabytes of memory if they were read as a whole.
func TestHostileFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	dir := t.TempDir()
	r := NewResolver()
	r.limits = newLimits(maxMemory, maxTime)
	most := mostMemory(func() {
		for i := range 5 {
			path := hostileTable{symbols: longestTable, names: longestNames, written: 1000}.write(t,
				filepath.Join(dir, fmt.Sprint(i)))
			r.Add(Mapping{PID: 1, Lo: base, Hi: base + 1<<16, Path: path})
			got, ok := r.Resolve(1, base+8, "")
			assert.True(t, ok)
			assert.Equal(t, i < 1, got.Symbol != "")
		}
	})
	t.Logf("%d MB", most>>20)
	assert.Less(t, most, uint64(3*maxMemory/2))
	require.NotEmpty(t, r.Notes())
	assert.Contains(t, strings.Join(r.Notes(), "\n"), "could not be read (section : it would take too much memory: ")

	// The memory that is left suffices for other files.
	honest := hostileTable{symbols: 24 * 1000, names: 1 << 10, written: 1000}.write(t, filepath.Join(dir, "honest"))
	r.Add(Mapping{PID: 2, Lo: base, Hi: base + 1<<16, Path: honest})
	got, ok := r.Resolve(2, base+8, "")
	assert.True(t, ok)
	assert.NotEmpty(t, got.Symbol)
}

// TestLargeTable: the part of a section that is beyond the limit is not read.
func TestLargeTable(t *testing.T) {
	for _, h := range []hostileTable{{symbols: longestTable + 24, names: 100}, {symbols: 240, names: longestNames + 1}} {
		r := NewResolver()
		r.limits = newLimits(maxMemory, maxTime)
		path := h.write(t, filepath.Join(t.TempDir(), "lib.so"))
		img, failure := r.load(&Mapping{PID: os.Getpid(), Path: path})
		assert.Nil(t, img)
		assert.Regexp(t, `could not be read \(section  has \d+ MiB, and at most \d+ MiB are read\)`, failure)
	}
}

// TestFunctionsAtOneAddress: comparing the long names of many functions with one another must not take minutes.
func TestFunctionsAtOneAddress(t *testing.T) {
	const functions = 100_000
	path := hostileTable{symbols: 24 * functions, names: 1 << 16, written: functions, sameAddress: true}.write(t,
		filepath.Join(t.TempDir(), "lib.so"))
	r := NewResolver()
	r.limits = newLimits(maxMemory, maxTime)
	began := time.Now()
	img, failure := r.load(&Mapping{PID: os.Getpid(), Path: path})
	require.Empty(t, failure)
	assert.Len(t, img.pieces, 1)
	t.Log(time.Since(began))
}

// TestManyMappings: the memory that is kept for a mapping does not depend on the size of its file.
func TestManyMappings(t *testing.T) {
	const functions = 1 << 15
	path := hostileTable{symbols: 24 * functions, names: 1 << 10, written: functions}.write(t,
		filepath.Join(t.TempDir(), "lib.so"))
	r := NewResolver()
	r.limits = newLimits(maxMemory, maxTime)
	most := mostMemory(func() {
		for i := range uint64(1 << 15) {
			at := base + i<<16
			r.Add(Mapping{PID: 1, Lo: at, Hi: at + 1<<16, Path: path})
			_, ok := r.Resolve(1, at, "")
			require.True(t, ok)
		}
	})
	t.Logf("%d MB", most>>20)
	assert.Less(t, most, uint64(100<<20))
	assert.Len(t, r.images, 1)
}

// A slow is a file that is slow to read.
type slow struct {
	endless
	reading chan struct{}
}

func (s *slow) ReadAt(p []byte, at int64) (int, error) {
	select {
	case s.reading <- struct{}{}:
	default:
	}
	time.Sleep(time.Millisecond)
	return s.endless.ReadAt(p, at)
}

// TestOneAtATime: when nobody waits for a file any more, reading it ends soon. The next file is read only after that.
func TestOneAtATime(t *testing.T) {
	l := newLimits(1<<30, time.Minute)
	file := &slow{reading: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	reason := errors.New("reason")
	go func() {
		<-file.reading
		cancel(reason)
	}()
	_, err := read(ctx, l, func(o *reading) (int, error) {
		n, err := limitedFile{o, file}.ReadAt(make([]byte, 1<<30), 0) // takes seconds
		ended <- err
		return n, err
	})
	require.ErrorIs(t, err, reason)
	_, err = read(t.Context(), l, func(*reading) (int, error) {
		select {
		case err := <-ended:
			assert.ErrorIs(t, err, reason)
		default:
			assert.Fail(t, "the first file is still being read")
		}
		return 0, nil
	})
	require.NoError(t, err)
}

// TestGiveUp: the end of a recording does not wait until files have been read.
func TestGiveUp(t *testing.T) {
	path := hostileTable{symbols: 240, names: 100, written: 10}.write(t, filepath.Join(t.TempDir(), "lib.so"))
	r := NewResolver()
	r.limits = newLimits(maxMemory, maxTime)
	<-r.limits.turn // another file is being read
	r.Add(Mapping{PID: 1, Lo: base, Hi: base + 1<<16, Path: path})
	time.AfterFunc(50*time.Millisecond, r.GiveUp)
	got, ok := r.Resolve(1, base+8, "")
	assert.True(t, ok)
	assert.Empty(t, got.Symbol)
	assert.Equal(t, []string{"lib.so was not read (gasm was stopped): its functions have no names"}, r.Notes())
}

// TestTimeForAll: files that are slow to read have no names once they have taken too much time, and a note says so.
func TestTimeForAll(t *testing.T) {
	l := newLimits(1<<30, time.Second)
	began := time.Now()
	over := 0
	for range 100 {
		_, err := read(t.Context(), l, func(o *reading) (int, error) {
			<-o.ctx.Done()
			return 0, context.Cause(o.ctx)
		})
		require.Error(t, err)
		if errors.Is(err, errTime) {
			over++
		}
	}
	assert.Greater(t, over, 80)
	assert.Less(t, time.Since(began), 5*time.Second)
}

// TestMemoryIsGivenBack: the memory of images that nobody uses any more is free for other images.
func TestMemoryIsGivenBack(t *testing.T) {
	path := hostileTable{symbols: 24 * 1000, names: 1 << 10, written: 1000}.write(t, filepath.Join(t.TempDir(), "lib.so"))
	l := newLimits(maxMemory, maxTime)
	func() {
		r := NewResolver()
		r.limits = l
		r.Add(Mapping{PID: 1, Lo: base, Hi: base + 1<<16, Path: path})
		_, ok := r.Resolve(1, base+8, "")
		require.True(t, ok)
		memory, _ := l.next()
		require.Less(t, memory, int64(maxMemory/2-10_000))
		runtime.KeepAlive(r)
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		runtime.GC()
		if memory, _ := l.next(); memory == maxMemory/2 {
			return
		}
		require.True(t, time.Now().Before(deadline))
	}
}

// TestTimeIsRegained: a long recording of many processes does not run out of time.
func TestTimeIsRegained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(maxMemory, time.Minute)
		l.spend(time.Hour)
		_, limit := l.next()
		assert.Zero(t, limit)
		time.Sleep(100 * time.Second)
		_, limit = l.next()
		assert.Equal(t, 5*time.Second, limit)
		time.Sleep(time.Hour)
		_, limit = l.next()
		assert.Equal(t, longestOne, limit)
	})
}

// TestManyNotes: a process can map any number of files that can't be read; the number of notes about them is limited.
func TestManyNotes(t *testing.T) {
	r := NewResolver()
	r.limits = newLimits(21*imageMemory, maxTime)
	for i := range maxNotes + 20 {
		r.note(fmt.Sprint(i))
	}
	assert.Len(t, r.Notes(), maxNotes+1)
	assert.Equal(t, "20 more files could not be read: their functions have no names", r.Notes()[maxNotes])
	for i := range 100 {
		r.Add(Mapping{PID: 1, Lo: base, Hi: base + 1<<16, Path: fmt.Sprint("/nonexistent/", i)})
		_, ok := r.Resolve(1, base+8, "")
		assert.True(t, ok)
	}
	assert.Less(t, len(r.images), 22)
	assert.Contains(t, r.Notes(), "some native functions have no names, because all names would take too much memory")
}
