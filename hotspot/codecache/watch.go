package codecache

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// Linker names of variables that are not in HotSpot's tables.
const (
	stubListSymbol    = "_ZN12StubCodeDesc5_listE"
	vtableSymbol      = "_ZN11VtableStubs6_tableE"
	vtableSizeSymbol  = "_ZN11VtableStubs15_vtab_stub_sizeE"
	itableSizeSymbol  = "_ZN11VtableStubs15_itab_stub_sizeE"
	vtableChunkSymbol = "_ZN10VtableStub6_chunkE"
)

// compileIDSymbols are the linker names of the counters from which HotSpot takes compile ids. There is one counter each
// for standard compilations, for OSR compilations, and for native wrappers.
var compileIDSymbols = [...]string{"_ZN13CompileBroker15_compilation_idE", "_ZN13CompileBroker19_osr_compilation_idE",
	"_ZN13CompileBroker22_native_compilation_idE"}

// A watch has copies of the HotSpot structures that show whether anything in the code cache has changed. Each Poll
// begins by reading all of them at once.
type watch struct {
	symbols map[string]uint64
	counts  []uint64                  // addresses of the compileIDSymbols, as far as they are known
	flags   map[string]vmstructs.Flag // where the flags are; HotSpot sets some of them while it starts

	// These fields have what the last call of read found.
	heapsAt    uint64 // address of the GrowableArray of heaps, or of JDK 8's only heap; 0 while HotSpot starts
	array      []byte
	compileIDs [len(compileIDSymbols)]uint64
	stubList   uint64
	queueAt    uint64 // address of the interpreter's StubQueue; 0 while HotSpot starts
	queue      []byte
	scans      int    // how many Polls so far did not know the address of the list of stubs
	chunk      uint64 // where the next vtable stub will be
}

// find finds the addresses of the symbols and flags.
func (w *watch) find(vm *vmstructs.VM, l *layout) (err error) {
	names := slices.Concat(compileIDSymbols[:], []string{stubListSymbol, vtableSymbol, vtableSizeSymbol,
		itableSizeSymbol, vtableChunkSymbol})
	// The file of libjvm.so can't be opened if the file was replaced after the JVM started and gasm does not run as
	// root. The Cache works without symbols, too, but then some stubs have no names.
	if w.symbols, err = vm.Symbols(names...); err != nil {
		w.symbols = map[string]uint64{}
	}
	for _, name := range compileIDSymbols {
		if at, ok := w.symbols[name]; ok {
			w.counts = append(w.counts, at)
		}
	}
	w.flags, err = vm.Flags("CodeEntryAlignment", "UseJVMCICompiler")
	return err
}

// arraySize is the number of bytes of a GrowableArray that are read. All its fields lie within these bytes.
const arraySize = 32

// read reads all structures that the watch copies, and finds those that HotSpot has made since the last Poll.
func (w *watch) read(c *Cache) error {
	l := c.layout
	var heaps, queueAt, stubs, chunk [8]byte
	var counts [len(w.compileIDs)][8]byte
	pieces := []vmstructs.Piece{{Addr: l.heaps.At, Buf: heaps[:]}, {Addr: l.codelets.queue.At, Buf: queueAt[:]}}
	watchSymbol := func(name string, buf []byte) {
		if at, ok := w.symbols[name]; ok {
			pieces = append(pieces, vmstructs.Piece{Addr: at, Buf: buf})
		}
	}
	watchSymbol(stubListSymbol, stubs[:])
	watchSymbol(vtableChunkSymbol, chunk[:])
	for i, at := range w.counts {
		pieces = append(pieces, vmstructs.Piece{Addr: at, Buf: counts[i][:4]})
	}
	if w.heapsAt != 0 && !l.oneHeap {
		pieces = append(pieces, vmstructs.Piece{Addr: w.heapsAt, Buf: sized(&w.array, arraySize)})
	}
	if w.queueAt != 0 {
		pieces = append(pieces, vmstructs.Piece{Addr: w.queueAt, Buf: sized(&w.queue, l.codelets.queueSize)})
	}
	for _, hp := range c.heaps {
		pieces = append(pieces, vmstructs.Piece{Addr: hp.at, Buf: sized(&hp.data, l.heapSize)})
	}
	if _, err := c.vm.Gather(pieces); err != nil {
		return err
	}
	for i := range counts {
		w.compileIDs[i] = binary.LittleEndian.Uint64(counts[i][:])
	}
	w.stubList, w.chunk = binary.LittleEndian.Uint64(stubs[:]), binary.LittleEndian.Uint64(chunk[:])
	if at := binary.LittleEndian.Uint64(queueAt[:]); at != w.queueAt {
		w.queueAt = at
		if _, err := c.vm.Read(sized(&w.queue, l.codelets.queueSize), at, l.codelets.queueSize); err != nil {
			return fmt.Errorf("the interpreter's codelets: %w", err)
		}
	}
	return w.findHeaps(c, binary.LittleEndian.Uint64(heaps[:]))
}

// sized returns *buf if it has the given size. Otherwise, it sets *buf to a new buffer, and returns that.
func sized(buf *[]byte, size uint64) []byte {
	if uint64(len(*buf)) != size {
		*buf = make([]byte, size)
	}
	return *buf
}

// maxHeaps is an upper bound for the number of heaps; more are an error. JDK 27 has four.
const maxHeaps = 16

// findHeaps finds heaps that HotSpot has made since the last Poll.
func (w *watch) findHeaps(c *Cache, at uint64) error {
	l := c.layout
	if at == 0 || l.oneHeap && at == w.heapsAt {
		return nil
	}
	list := []uint64{at}
	if !l.oneHeap {
		if at != w.heapsAt {
			if _, err := c.vm.Read(sized(&w.array, arraySize), at, arraySize); err != nil {
				return fmt.Errorf("the list of its heaps: %w", err)
			}
		}
		count := l.arrayLength.In(w.array)
		if count == uint64(len(c.heaps)) && at == w.heapsAt {
			return nil
		}
		if count > maxHeaps {
			return fmt.Errorf("there can't be %d heaps: gasm does not know the code cache of this build of JDK %d",
				count, c.vm.Release)
		}
		data, err := c.vm.Read(nil, l.arrayData.In(w.array), 8*count)
		if err != nil {
			return fmt.Errorf("the list of its heaps: %w", err)
		}
		list = list[:0]
		for ; len(data) > 0; data = data[8:] {
			list = append(list, binary.LittleEndian.Uint64(data))
		}
	}
	w.heapsAt = at
	jvmci, _ := c.flag("UseJVMCICompiler") // the flag is constant: HotSpot reads its arguments before it makes heaps
	c.jvmci = jvmci == 1
	for i, at := range list {
		if i < len(c.heaps) && c.heaps[i].at == at {
			continue
		}
		hp := newHeap(at)
		if _, err := c.vm.Read(sized(&hp.data, l.heapSize), at, l.heapSize); err != nil {
			return fmt.Errorf("a heap: %w", err)
		}
		c.heaps = append(c.heaps[:min(i, len(c.heaps))], hp)
	}
	return nil
}

// flag reads the current value of a flag. ok is false if the JVM has no such flag, or if the flag can't be read.
func (c *Cache) flag(name string) (value uint64, ok bool) {
	f, ok := c.watch.flags[name]
	if !ok || f.Size > 8 {
		return 0, false
	}
	var buf [8]byte
	_, err := c.vm.Read(buf[:], f.Address, f.Size)
	return binary.LittleEndian.Uint64(buf[:]), err == nil
}
