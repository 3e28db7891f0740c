package profile

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gasm-profiler/gasm/printassembly"
)

// maxListed is how many instructions of listings are kept. Code that is needed again is read
// again. It is more than the hot code of most programs has.
const maxListed = 2 << 20

// listing gives a blob's instructions, which it reads from the log.
func (w *work) listing(r blobRef) []printassembly.Instruction {
	insts, ok := w.listings[r]
	if ok {
		return insts
	}
	insts, err := w.b.jvms[r.jvm].Log.Code(w.blob(r), w.opts.Syntax)
	if _, again := w.unread[r]; err != nil && !again {
		w.unread[r] = true
		if tooMuch := new(printassembly.TooMuchError); errors.As(err, &tooMuch) {
			w.warnings = append(w.warnings, err.Error())
		} else {
			w.warnings = append(w.warnings, fmt.Sprintf("%v: shown without code", err))
		}
	}
	if w.listed += len(insts); w.listed > maxListed {
		clear(w.listings)
		w.listed = len(insts)
	}
	w.listings[r] = insts
	return insts
}

// readAhead reads the debug info of blobs to come, on all processors: a program that compiles
// much has samples in thousands of methods, of which only the hottest are shown. Where debug
// info can't be had alone, it reads the listings, up to maxListed. What can't be read is left
// to listing, which says why.
func (w *work) readAhead(sampled []*sampledBlob) {
	infos := make([]*printassembly.DebugInfo, len(sampled))
	insts := make([][]printassembly.Instruction, len(sampled))
	var next, listed atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(sampled)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(sampled); i = int(next.Add(1)) - 1 {
				s := sampled[i]
				if w.skipped(s.Kind) {
					continue
				}
				log := w.b.jvms[s.jvm].Log
				info, err := log.DebugInfo(s.Blob, w.opts.Syntax)
				if infos[i] = info; err != nil || info != nil || listed.Load() >= maxListed {
					continue
				}
				if code, err := log.Code(s.Blob, w.opts.Syntax); err == nil {
					insts[i] = code
					listed.Add(int64(len(code)))
				}
			}
		})
	}
	wg.Wait()
	for i, s := range sampled {
		if infos[i] != nil {
			w.debugInfo[s.blobRef] = infos[i]
		}
		if insts[i] != nil {
			w.listings[s.blobRef] = insts[i]
			w.listed += len(insts[i])
		}
	}
}
