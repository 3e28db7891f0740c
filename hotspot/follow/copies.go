package follow

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/hotspot/codecache"
	"github.com/gasm-profiler/gasm/hotspot/nmethod"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/printassembly"
)

// look goes through the samples that have come in since the last call, and copies the methods that were sampled for the
// first time. Before that, it polls the code cache, because the last poll may not have seen the sampled methods yet.
// Without such samples, it reads the JVM's memory only if nobody has done so since the given time. It reports whether
// the poll found anything new.
func (f *Follower) look(since int64) (news bool) {
	f.mu.Lock()
	f.seen, f.pending = f.pending, f.seen[:0]
	f.mu.Unlock()
	if len(f.seen) > 0 {
		since = 0
	}
	for _, at := range f.seen {
		since = max(since, at.monoNanos)
	}
	news = f.poll(since)
	for _, at := range f.seen {
		if f.jvm == nil {
			break
		}
		b, ambiguous := f.jvm.Cache.At(at.pc, at.monoNanos)
		if !at.caller {
			f.result.Samples++
			if ambiguous {
				f.result.Ambiguous++
			}
		}
		if b != nil && b.Method != nil {
			f.sampled(b, at.pc)
		}
	}
	f.completeSome()
	return news
}

// sampled handles a sample in a method. If the method has an excerpt, sampled adds the instruction at pc to it. If gasm
// has not tried to copy the method before, sampled copies all of it if the budget allows that, and otherwise takes an
// excerpt.
func (f *Follower) sampled(b *codecache.Blob, pc uint64) {
	switch waiting := f.excerpts[b]; {
	case waiting != nil:
		waiting.samples++
		_ = f.addTo(waiting, b, pc) // if that fails, what was added before is kept
	case f.state[b] != 0:
	case f.budget.left() > 0:
		f.state[b] = f.take(b)
	default:
		f.state[b] = f.takeExcerpt(b, pc)
	}
}

// take copies a method into the log. It returns the method's new state.
func (f *Follower) take(b *codecache.Blob) copyState {
	if f.result.Disk != nil {
		return failed
	}
	return f.count(b, f.copyMethod(b.Method))
}

// count counts a method in the result: as copied if err is nil, as late if the method or the JVM was gone, and
// otherwise as missed. It returns the method's new state.
func (f *Follower) count(b *codecache.Blob, err error) copyState {
	switch {
	case err == nil:
		f.result.Copied++
		return copied
	case isGone(err):
		f.result.Late++
	default:
		f.result.Missed++
		if f.result.Why == nil {
			f.result.Why = fmt.Errorf("%s (compile id %d): %w", b.Method.Name, b.Method.ID, err)
		}
	}
	return failed
}

// isJVM reports whether a process has mapped libjvm.so. A process that has ended has no mappings.
func isJVM(pid int) bool {
	mappings, _ := native.ReadMaps(pid)
	return slices.ContainsFunc(mappings, func(m native.Mapping) bool { return filepath.Base(m.Path) == "libjvm.so" })
}

// isGone reports whether an error means that a method, or the whole JVM, is gone.
func isGone(err error) bool {
	return errors.Is(err, nmethod.ErrGone) || errors.Is(err, syscall.ESRCH) || errors.Is(err, fs.ErrNotExist)
}

// copyMethod copies one method, and subtracts the time that this took from the budget.
func (f *Follower) copyMethod(m *printassembly.Installed) (err error) {
	f.jvm.Copy(func(c *nmethod.Copier) {
		began := time.Now() // not earlier: Copy may have waited until another goroutine was done with the Copier
		err = f.copyWith(c, m)
		f.budget.spend(time.Since(began))
	})
	return err
}

// copyWith copies one method. If the debug info makes no sense, copyWith reads the method again. Perhaps the copier
// remembered names of classes that have since been unloaded, or the method was replaced while it was being read. If the
// second copy fails too, the part that was already written stays in the log.
func (f *Follower) copyWith(c *nmethod.Copier, m *printassembly.Installed) error {
	start := len(f.log.text)
	var err error
	for range 2 {
		var code *nmethod.Code
		if code, err = c.Copy(m); isGone(err) {
			return err
		}
		if err == nil {
			if f.log.text, err = code.AppendTo(f.log.text[:start]); err == nil {
				f.log.text = c.AppendSourceFiles(code.AppendBodies(code.AppendProfiles(f.log.text)))
				return nil
			}
		}
		c.Forget()
	}
	return err
}
