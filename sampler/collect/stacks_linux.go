package collect

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/failure"
	"github.com/gasm-profiler/gasm/sampler/perfevent"
)

// stackPause is the pause between two readings of the kernel's buffers while there are samples with stacks. It is short
// for two reasons. Such samples fill the buffers fast. And a walk also reads the process's memory: the longer it waits,
// the more often the code of the sampled methods is no longer there.
const stackPause = 50 * time.Millisecond

// ringPause is the pause for which the kernel's buffers are sized (perfevent.Options.DrainEvery). The buffers have room
// for many such pauses, or for only two if this user may not lock more memory. In that case a buffer may be half full
// after less than stackPause. gasm then ends the pause and reads it.
const ringPause = 20 * time.Millisecond

// stacks has the call stacks of a recording, and writes them to a file.
type stacks struct {
	pause   time.Duration // Options.StackPause
	walk    Walk
	caller  func() uint64 // Options.Caller; may be nil
	stop    func()        // Options.GiveUp; may be nil
	over    atomic.Bool   // no more stacks are walked
	file    *os.File
	tree    *callstack.Writer
	failure error // why the file could not be written
	calls   map[kernelCall]callstack.ID
}

// A kernelCall is a call by a function of the kernel. caller is the stack below this function, and pc is the return
// address in this function.
type kernelCall struct {
	caller callstack.ID
	pc     uint64
}

// maxKernelCalls is the maximum number of kernelCalls that are remembered. When it is reached, all are forgotten.
const maxKernelCalls = 1 << 16

// newStacks returns stacks that are written to a new file.
func newStacks(path string, o Options) (*stacks, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("writing the call stacks: %w", err)
	}
	var out io.Writer = file
	if o.StacksTo != nil {
		out = io.MultiWriter(o.StacksTo, file)
	}
	return &stacks{pause: cmp.Or(o.StackPause, stackPause), walk: o.Walk, caller: o.Caller, stop: o.GiveUp, file: file,
		tree: callstack.NewWriter(out), calls: map[kernelCall]callstack.ID{}}, nil
}

// of returns the ID of a sample's stack. After a failure to write stacks it returns 0.
func (s *stacks) of(r *perfevent.Record, libraries *native.Resolver, kernelNames func() *kernelSymbols) callstack.ID {
	if s.failure != nil || r.ThreadState == nil {
		return 0
	}
	stack := callstack.ID(0)
	switch {
	case !s.over.Load():
		stack = s.walk(s.tree, r, libraries)
	case r.ABI != perfevent.NoABI:
		stack = s.tree.Push(0, callstack.At(callstack.Unwalked, 0))
	}
	if r.Mode == perfevent.Kernel { // a precise event may have happened in user space and interrupted the kernel
		stack = s.inKernel(stack, r, kernelNames)
	}
	if stack == callstack.NoRoom {
		return 0
	}
	return stack
}

// callerOf returns the Sample.Caller of the sample whose stack was walked last.
func (s *stacks) callerOf() uint64 {
	if s.caller == nil || s.over.Load() {
		return 0
	}
	return s.caller()
}

// giveUp ends all walking of stacks: the present walk returns soon, and no other walk begins. Any goroutine may call
// it.
func (s *stacks) giveUp() {
	if !s.over.Swap(true) && s.stop != nil {
		s.stop()
	}
}

// inKernel pushes the kernel's frames of a sample onto a stack.
func (s *stacks) inKernel(stack callstack.ID, r *perfevent.Record, kernelNames func() *kernelSymbols) callstack.ID {
	for i := len(r.Chain) - 1; i >= 0; i-- {
		call := kernelCall{stack, r.Chain[i]}
		id, known := s.calls[call]
		if !known {
			// The byte before the return address is the last byte of the call. The return address itself may be in the
			// next function.
			name := kernelNames().at(call.pc - 1)
			f := callstack.At(callstack.Kernel, call.pc)
			f.Module, f.Name = sampler.KernelModule, name.symbol
			id = s.tree.Push(stack, f)
			if len(s.calls) >= maxKernelCalls {
				clear(s.calls)
			}
			s.calls[call] = id
		}
		stack = id
	}
	return stack
}

// flush writes all stacks to the file. It returns false if some of them could not be written. In that case, no further
// stacks are recorded.
func (s *stacks) flush() (ok bool) {
	if s.failure != nil {
		return true // there are no new ones
	}
	s.failure = s.tree.Flush()
	return s.failure == nil
}

// close closes the file.
func (s *stacks) close() {
	if err := s.file.Close(); err != nil && s.failure == nil {
		s.failure = err
	}
}

// note returns a note about a failure to write stacks. ok is false if there was no failure.
func (s *stacks) note() (note fix.Note, ok bool) {
	if s.failure == nil {
		return note, false
	}
	note.Text = fmt.Sprintf("some samples have no call stacks, because these could not be written: %v", s.failure)
	if errors.Is(s.failure, syscall.ENOSPC) {
		note.Fix = "make room in " + filepath.Dir(s.file.Name())
	}
	return note, true
}

// moreRoom is the fix for buffers that are too small for call stacks.
const moreRoom = "raise the limit of locked memory (ulimit -l, or sysctl kernel.perf_event_mlock_kb)"

// shallowNote returns a note if the kernel's buffers are too small for 32 KiB of a stack in each sample. size is the
// number of bytes that they have room for. ok is false if there is nothing to note.
func shallowNote(size, asked int) (note fix.Note, ok bool) {
	const enough = 32 << 10 // enough for 98 % of JRuby's stacks
	if size >= min(asked, enough) {
		return note, false
	}
	return fix.Note{Text: fmt.Sprintf("deep call stacks are cut: there is room for %d KiB of a stack in the kernel's buffers", size>>10),
		Fix: moreRoom}, true
}

// littleRoom returns the error for a recording whose samples would have fewer bytes of a stack than Options.LeastStack.
// size is the number of bytes for which the kernel's buffers have room. It is 0 if the kernel copies no stacks on this
// machine.
func littleRoom(size int) *failure.RefusedError {
	if size == 0 {
		return &failure.RefusedError{Tool: nativeTool, Reason: failure.ReasonKernel,
			Cause: "the kernel copies no call stacks on this kind of processor"}
	}
	return &failure.RefusedError{Tool: nativeTool, Reason: failure.ReasonLimit,
		Cause: fmt.Sprintf("there is room for only %d KiB of a call stack in the kernel's buffers", size>>10), Hint: moreRoom}
}

// TryStacks returns an error if this user can't take samples with call stacks. The reason may be that the kernel
// refuses the events, or that its buffers have room for fewer bytes of a stack than LeastStack. TryStacks opens the
// events for gasm's own process, but takes no samples. It uses only the options Events, Frequency and LeastStack.
func TryStacks(opts Options) error {
	pid := os.Getpid()
	o := perfevent.Options{Frequency: opts.Frequency, Stacks: perfevent.MaxStack, DrainEvery: ringPause}
	set, _, _, err := openFirst(requestFor(opts.Events, noCyclesCounter()), o, pid,
		func(o perfevent.Options) (*perfevent.Set, error) {
			return perfevent.Open(pid, o) // the events would begin with an exec
		})
	if err != nil {
		return err
	}
	defer set.Close()
	if set.Stacks() < opts.LeastStack {
		return littleRoom(set.Stacks())
	}
	return nil
}
