package codecache

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/gasm-profiler/gasm/hotspot/vmstructs"
)

// HotSpot's names for what its tables do not tell.
const (
	stubListSymbol    = "_ZN12StubCodeDesc5_listE"
	vtableSymbol      = "_ZN11VtableStubs6_tableE"
	vtableSizeSymbol  = "_ZN11VtableStubs15_vtab_stub_sizeE"
	itableSizeSymbol  = "_ZN11VtableStubs15_itab_stub_sizeE"
	vtableChunkSymbol = "_ZN10VtableStub6_chunkE"
)

// compileIDSymbols count the methods that were to be compiled, and native wrappers.
var compileIDSymbols = [...]string{"_ZN13CompileBroker15_compilation_idE", "_ZN13CompileBroker19_osr_compilation_idE",
	"_ZN13CompileBroker22_native_compilation_idE"}

// A watch is what tells whether anything has changed: some structures of HotSpot, which
// are read at once at the start of each Poll.
type watch struct {
	symbols map[string]uint64
	counts  []uint64                  // addresses of those of compileIDSymbols that are there
	flags   map[string]vmstructs.Flag // without their values: HotSpot sets some while it starts

	// What was read last.
	heapsAt    uint64 // the GrowableArray of heaps, or JDK 8's only heap; 0 while HotSpot starts
	array      []byte
	compileIDs [len(compileIDSymbols)]uint64
	stubList   uint64
	queueAt    uint64 // the interpreter's StubQueue; 0 while HotSpot starts
	queue      []byte
	scans      int    // how often the list of stubs was looked for
	chunk      uint64 // where the next vtable stub comes to lie
}

// find finds out what to watch.
func (w *watch) find(vm *vmstructs.VM, l *layout) (err error) {
	names := slices.Concat(compileIDSymbols[:], []string{stubListSymbol, vtableSymbol, vtableSizeSymbol, itableSizeSymbol, vtableChunkSymbol})
	// Without the library's file (it was replaced since, and we aren't root) names of stubs are missing, and no more.
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

// arraySize is more than a GrowableArray's fields take, in bytes.
const arraySize = 32

// read reads all that is watched. What is not there yet is looked for.
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

// sized gives a buffer of a size, which it keeps.
func sized(buf *[]byte, size uint64) []byte {
	if uint64(len(*buf)) != size {
		*buf = make([]byte, size)
	}
	return *buf
}

// maxHeaps is more than HotSpot has: JDK 27 has four.
const maxHeaps = 16

// findHeaps looks whether HotSpot has made heaps since the last Poll.
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
			return fmt.Errorf("there can't be %d heaps: gasm does not know the code cache of this build of JDK %d", count, c.vm.Release)
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
	jvmci, _ := c.flag("UseJVMCICompiler") // it does not change after the arguments were read
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

// flag reads the value of a flag as it is now; false where the JVM has no such flag.
func (c *Cache) flag(name string) (value uint64, ok bool) {
	f, ok := c.watch.flags[name]
	if !ok || f.Size > 8 {
		return 0, false
	}
	var buf [8]byte
	_, err := c.vm.Read(buf[:], f.Address, f.Size)
	return binary.LittleEndian.Uint64(buf[:]), err == nil
}
