package perfevent

import (
	"math/bits"

	"golang.org/x/sys/unix"
)

const (
	// MaxStack is the largest number of bytes of a stack that a sample can have. The reason is that the length of a
	// record has 16 bits. The kernel copies a little less if the rest of the record needs the room.
	MaxStack = 65528
	// smallestStack is the least number of bytes of a stack in a sample. A sample has that many even if the ring
	// buffers are too small for such samples, so that some get lost. Fewer bytes would cut nearly all stacks of a JVM.
	smallestStack = 8 << 10

	// largestStackRing is the maximum size of a ring buffer for samples with stacks, and allStackRings is the maximum
	// size of all these ring buffers together, both in bytes. There are limits because the kernel can't swap this
	// memory out.
	largestStackRing = 64 << 20
	allStackRings    = 512 << 20

	// A pause is the time between two Drains (Options.DrainEvery). A ring buffer should have room for the samples of
	// wantedPauses pauses, which is about a second. It may take that long until this process gets a CPU, or until the
	// walk of a stack that comes to new code is done. If this user may not lock that much memory, the stacks are made
	// smaller until the samples of leastPauses pauses fit. This number must be at least two: Wait returns when half of
	// the buffer is full, and the other half is for the samples that arrive before this process gets a CPU.
	wantedPauses, leastPauses = 50, 2
)

// recordSize returns the size of the record of a sample, in bytes. stack is how many of these bytes are a copy of the
// thread's stack. recordSize assumes that the call chain in the kernel has 16 addresses. Usually it has fewer, but it
// may have more.
func recordSize(stack int) int {
	const chain = 1 + 16
	return sampleSize + 8*(chain+1+bits.OnesCount64(registerMask)+1+1) + stack
}

// stackLimits says how much memory samples with stacks need.
type stackLimits struct {
	stack   int     // the number of bytes of stack that were asked for
	samples float64 // the number of samples of one CPU between two Drains
}

func limitsOf(o *Options) stackLimits {
	stack := min(o.Stacks, MaxStack) &^ 7 // the kernel takes multiples of 8 only
	return stackLimits{stack, max(1, float64(o.Frequency*len(o.Events))*o.DrainEvery.Seconds())}
}

// ring returns the wanted size of each CPU's ring buffer, a power of two. cpus is the number of the machine's CPUs.
func (l stackLimits) ring(cpus int) int {
	most := min(largestStackRing, max(largestRing, allStackRings/cpus))
	size := largestRing
	for size < most && float64(size) < wantedPauses*l.samples*float64(recordSize(l.stack)) {
		size *= 2
	}
	if size > most {
		size /= 2 // because the limit may not be a power of two
	}
	return size
}

// fitting returns how many bytes of stack each sample can have if a ring buffer has the given size in bytes.
func (l stackLimits) fitting(ring int) int {
	room := int(float64(ring)/(leastPauses*l.samples)) - recordSize(0)
	return min(l.stack, max(room, smallestStack)) &^ 7
}

// mapStackRings maps the ring buffers before any event is opened. An event can be opened only when the size of its
// stacks is known, and this size depends on how large the ring buffers can be. But a ring buffer can be mapped only
// with an event. So the ring buffer of each CPU belongs to a Dummy event on the calling thread, which is never enabled.
func (s *Set) mapStackRings(o *Options) error {
	limits := limitsOf(o)
	owner := opening{Event: Dummy, attr: attributes(&Dummy, 1, unix.PerfBitExcludeKernel|unix.PerfBitExcludeHv)}
	var online []int
	for _, cpu := range s.cpus {
		fd, err := owner.open(0, cpu)
		if err == unix.ENODEV {
			continue // the CPU was switched off just now
		}
		if err != nil {
			return &OpenError{o.Events[0].Name, "perf_event_open", errnoOf(err)}
		}
		s.owners[len(online)] = fd
		online = append(online, cpu)
		s.ringOwners = append(s.ringOwners, fd)
	}
	s.cpus = online
	size, err := s.mapOwned(o.Events[0].Name, limits.ring(max(1, len(online))))
	if err != nil {
		return err
	}
	s.stack = limits.fitting(size)
	return nil
}

// AskStacks makes the kernel write registers, the kernel's call chain and a part of the stack with each sample of an
// event. stack is the size of the part in bytes, a multiple of 8.
func AskStacks(attr *unix.PerfEventAttr, stack int) {
	attr.Sample_type |= unix.PERF_SAMPLE_CALLCHAIN | unix.PERF_SAMPLE_REGS_USER | unix.PERF_SAMPLE_STACK_USER
	attr.Bits |= unix.PerfBitExcludeCallchainUser
	attr.Sample_regs_user = registerMask
	attr.Sample_stack_user = uint32(stack)
}

// Stacks returns the maximum number of bytes of a thread's stack in a sample. This is less than Options.Stacks if this
// user may not lock enough memory for the ring buffers. It is 0 without Options.Stacks.
func (s *Set) Stacks() int { return s.stack }

// Values in a call chain (enum perf_callchain_context). The values from contextMax on are not addresses; each says what
// kind of addresses follow it.
const (
	contextKernel = 1<<64 - 128
	contextMax    = 1<<64 - 4095
)

// decodeState decodes the part of a sample that follows its fixed part. If a size in the record is wrong, the part with
// that size and all later parts stay empty. The stack is not copied. In the kernel, perf_output_sample writes:
//
//	callchain  n, then n addresses
//	registers  abi, then the registers of the mask; without them if abi is 0
//	stack      size, then size bytes, then how many of these bytes are valid; only size if it is 0
func decodeState(data []byte, s *ThreadState) {
	s.ABI, s.Stack, s.Chain = NoABI, nil, s.Chain[:0]
	clear(s.Regs[:])
	if len(data) < sampleSize {
		return
	}
	rest := data[sampleSize:]
	n, rest, ok := cutWord(rest)
	if !ok || n > uint64(len(rest)/8) {
		return
	}
	s.chain(rest[:8*n])
	abi, rest, ok := cutWord(rest[8*n:])
	if !ok || abi > uint64(ABI64) {
		return
	}
	if abi != 0 {
		if len(rest) < 8*bits.OnesCount64(registerMask) {
			return
		}
		s.ABI = ABI(abi)
		for mask := registerMask; mask != 0; mask &= mask - 1 {
			s.Regs[bits.TrailingZeros64(mask)], rest, _ = cutWord(rest)
		}
	}
	size, rest, ok := cutWord(rest)
	if !ok || size == 0 || len(rest) < 8 || size > uint64(len(rest)-8) || abi == 0 {
		return
	}
	if valid := uint64At(rest, int(size)); valid <= size {
		s.Stack = rest[:valid:valid]
	}
}

// chain adds those return addresses of a call chain that are in the kernel. It skips the first address in the kernel,
// which is that of the interrupted instruction.
func (s *ThreadState) chain(words []byte) {
	kernel, interrupted := false, false
	for len(words) > 0 {
		var address uint64
		address, words, _ = cutWord(words)
		switch {
		case address >= contextMax:
			kernel = address == contextKernel
			interrupted = kernel
		case interrupted:
			interrupted = false
		case kernel:
			s.Chain = append(s.Chain, address)
		}
	}
}

func cutWord(data []byte) (word uint64, rest []byte, ok bool) {
	if len(data) < 8 {
		return 0, nil, false
	}
	return uint64At(data, 0), data[8:], true
}

// keep copies the stack out of the ring buffer, unless that was done before, so that the space in the ring buffer can
// be freed.
func (s *ThreadState) keep() {
	if len(s.Stack) > 0 && (len(s.kept) == 0 || &s.Stack[0] != &s.kept[0]) {
		s.kept = append(s.kept[:0], s.Stack...)
		s.Stack = s.kept
	}
}

// A statePool keeps ThreadStates that Drain has finished with, so that their memory can be reused.
type statePool struct {
	free  []*ThreadState
	bytes int // size of the memory for copied stacks in free, in bytes
}

// maxFree limits the memory for copied stacks that a statePool keeps, in bytes.
const maxFree = 32 << 20

func (p *statePool) get() *ThreadState {
	n := len(p.free)
	if n == 0 {
		return &ThreadState{}
	}
	s := p.free[n-1]
	p.free = p.free[:n-1]
	p.bytes -= cap(s.kept)
	return s
}

func (p *statePool) put(s *ThreadState) {
	if s != nil && p.bytes+cap(s.kept) <= maxFree {
		s.Stack = nil
		p.free = append(p.free, s)
		p.bytes += cap(s.kept)
	}
}
