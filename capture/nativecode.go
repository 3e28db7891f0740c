package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/gasm-profiler/gasm/internal/nativecode"
	"github.com/gasm-profiler/gasm/internal/regular"
)

// NativeCode returns the code of native functions that have samples, or nil if the capture has none. The ids of
// processes are those in the capture.
func (c *Capture) NativeCode() *nativecode.Table { return c.native }

// readNativeCode reads a folder's native-code.txt. If there is no such file, the table is nil. If some lines can't be
// read, the note says so; otherwise, the note is "".
func readNativeCode(dir string) (table *nativecode.Table, note string, err error) {
	path := filepath.Join(dir, NativeCodeFile)
	f, _, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading the native code: %w", err)
	}
	defer f.Close()
	if table, err = nativecode.Read(f, path); err != nil {
		return nil, "", fmt.Errorf("reading the native code: %w", err)
	}
	if n, first := table.BadLines(); n > 0 {
		note = fmt.Sprintf("%d lines of the native code could not be read, the first: %v", n, first)
		if n == 1 {
			note = fmt.Sprintf("a line of the native code could not be read: %v", first)
		}
	}
	return table, note, nil
}

// joinNativeCode joins the native code of the parts. JVMs that had the same library share its functions. Code of the
// kernel is left out, because its addresses change whenever the machine starts, and the parts may be from different
// starts or machines.
func (c *Capture) joinNativeCode() {
	type key struct {
		module, symbol, code string
		lo                   uint64
	}
	index := map[key]int{}
	var all []nativecode.Function
	for i := range c.parts {
		p := &c.parts[i]
		if p.native == nil {
			continue
		}
		for _, f := range p.native.Functions {
			var places []nativecode.Place
			for _, at := range f.Places {
				if slices.ContainsFunc(p.JVMs, func(j JVM) bool { return j.PID == at.PID }) {
					places = append(places, nativecode.Place{PID: p.pid(at.PID), Lo: at.Lo})
				}
			}
			if len(places) == 0 {
				continue
			}
			k := key{f.Module, f.Symbol, string(f.Code), f.Lo}
			if n, ok := index[k]; ok {
				all[n].Places = append(all[n].Places, places...)
				continue
			}
			index[k] = len(all)
			f.Places = places
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		return
	}
	c.native = &nativecode.Table{}
	left := 0
	for _, f := range all {
		if !c.native.Add(f) {
			left++
		}
	}
	c.native.Index()
	if left > 0 {
		c.Notes.Add(fmt.Sprintf("the captures have more native code than gasm reads: of %d functions of %d, only the names are known", left, len(all)))
	}
}
