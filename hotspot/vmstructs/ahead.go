package vmstructs

import (
	"cmp"
	"errors"
	"slices"
)

// An Ahead reads pieces of a process's memory before they are needed, many of them with one system call. [VM.Ahead]
// returns a VM that uses these data for its reads, and reads the process if they are not there. The data are as old as
// the call of Fetch or Together, so the caller must call Forget when it needs newer data. Only one goroutine may use an
// Ahead and its VM.
type Ahead struct {
	under      Memory
	layers     []layer // each has what one call of Fetch has read
	free       []layer // forgotten layers, whose memory is used again
	single     layer   // short pieces that were read without having been fetched; not sorted
	collecting bool
	missing    []Span // what Together has to read
	noted      []Span // see Note
	noting     bool
}

// A Span is a range of addresses.
type Span struct {
	Addr uint64
	Size uint32
}

func (s Span) end() uint64 { return s.Addr + uint64(s.Size) }

// A layer is data that was read. at[i] is where the data of spans[i] begins; it is negative if it could not be read.
type layer struct {
	spans []Span
	at    []int
	data  []byte
}

// find returns the data of a span in a sorted layer. tried is true if the layer's reading included the span. data is
// nil if the span could not be read.
func (l *layer) find(s Span) (data []byte, tried bool) {
	i, exact := slices.BinarySearchFunc(l.spans, s.Addr,
		func(s Span, addr uint64) int { return cmp.Compare(s.Addr, addr) })
	if !exact {
		i--
	}
	return l.in(i, s)
}

// in does the same as find, for the i-th span only.
func (l *layer) in(i int, s Span) (data []byte, tried bool) {
	if i < 0 || s.Addr < l.spans[i].Addr {
		return nil, false
	}
	offset, size := s.Addr-l.spans[i].Addr, uint64(l.spans[i].Size)
	if offset > size || uint64(s.Size) > size-offset {
		return nil, false
	}
	if l.at[i] < 0 {
		return nil, true
	}
	from := l.at[i] + int(offset)
	return l.data[from : from+int(s.Size)], true
}

// Ahead returns a copy of the VM that uses a new Ahead.
func (vm *VM) Ahead() (*VM, *Ahead) {
	a := &Ahead{under: vm.Memory}
	other := *vm
	other.Memory = Memory{reader: a}
	return &other, a
}

// errLater is the error of a read in Together whose data is not there yet. Together then calls the function again.
var errLater = errors.New("it is read later, together with others")

const (
	// The data of a read that was not fetched is kept, too, if it has at most longestSingle bytes.
	longestSingle = 1 << 10
	// mostSingle is the maximum number of such reads whose data is kept.
	mostSingle = 64
	// maxFetched limits how many bytes one call of Fetch reads.
	maxFetched = 64 << 20
)

// ReadAt reads len(buf) bytes at an address.
func (a *Ahead) ReadAt(buf []byte, addr int64) (int, error) {
	s := Span{uint64(addr), uint32(len(buf))}
	short := len(buf) <= longestSingle
	if a.noting && short {
		a.noted = append(a.noted, s)
	}
	data, tried := a.find(s)
	if data != nil {
		return copy(buf, data), nil
	}
	if a.collecting && short && !tried {
		a.missing = append(a.missing, s)
		return 0, errLater
	}
	_, err := a.under.Read(buf, s.Addr, uint64(len(buf)))
	if err != nil {
		return 0, err
	}
	if short && len(a.single.spans) < mostSingle {
		a.single.add(s, buf)
	}
	return len(buf), nil
}

func (l *layer) add(s Span, data []byte) {
	l.spans, l.at = append(l.spans, s), append(l.at, len(l.data))
	l.data = append(l.data, data...)
}

// find returns the data of a span that was read; see layer.find.
func (a *Ahead) find(s Span) (data []byte, tried bool) {
	for i := range a.layers {
		if data, tried := a.layers[i].find(s); tried {
			return data, tried
		}
	}
	for i := range a.single.spans {
		if data, tried := a.single.in(i, s); tried {
			return data, tried
		}
	}
	return nil, false
}

// readPieces reads pieces from the process, even if they were fetched; see gatherer.
func (a *Ahead) readPieces(pieces []Piece) (read int, err error) { return a.under.Gather(pieces) }

// Forget forgets all data.
func (a *Ahead) Forget() {
	a.free = append(a.free, a.layers...)
	a.layers = a.layers[:0]
	a.single.clear()
	a.noting = false // in case the caller has failed after Note
}

func (l *layer) clear() {
	l.spans, l.at, l.data = l.spans[:0], l.at[:0], l.data[:0]
	if cap(l.data) > 1<<20 {
		*l = layer{}
	}
}

// Fetch reads the given spans, except those that can't be read. They may overlap, and need not be sorted. Fetch does
// not change the slice. If the spans have more than maxFetched bytes together, it reads none of them.
func (a *Ahead) Fetch(spans []Span) {
	var l layer
	if n := len(a.free); n > 0 {
		l, a.free = a.free[n-1], a.free[:n-1]
		l.clear()
	}
	l.spans = Merge(append(l.spans, spans...))
	total := 0
	for _, s := range l.spans {
		total += int(s.Size)
	}
	if total > maxFetched { // each of them is read when it is needed
		total = 0
		l.spans, l.at = l.spans[:0], l.at[:0]
	}
	l.data = slices.Grow(l.data, total)[:total]
	pieces := make([]Piece, len(l.spans))
	from := 0
	for i, s := range l.spans {
		pieces[i] = Piece{s.Addr, l.data[from : from+int(s.Size)]}
		l.at = append(l.at, from)
		from += int(s.Size)
	}
	ok, err := a.under.GatherSome(pieces)
	for i := range l.at {
		if err != nil || !ok[i] {
			l.at[i] = -1
		}
	}
	a.layers = append(a.layers, l)
}

// nearby is the maximum number of bytes between two spans in one page that are joined. It is cheaper to read these
// bytes than to read a further piece.
const nearby = 256

// Merge sorts spans, and joins those that overlap or are close to each other in one page. It uses the memory of the
// slice.
func Merge(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.Addr, b.Addr) })
	merged := spans[:0]
	for _, s := range spans {
		if n := len(merged); n > 0 && s.end() > s.Addr {
			last := &merged[n-1]
			end := max(last.end(), s.end())
			onePage := last.Addr/pageSize == (end-1)/pageSize && end > last.Addr
			if s.end() <= last.end() || onePage && s.Addr <= last.end()+nearby {
				last.Size = uint32(end - last.Addr)
				continue
			}
		}
		merged = append(merged, s)
	}
	return merged
}

// Missed reports whether a short piece that had not been fetched was read since Forget.
func (a *Ahead) Missed() bool { return len(a.single.spans) > 0 }

// Note begins to record which spans are read, except for long ones. Noted ends the recording, and returns the spans.
func (a *Ahead) Note() { a.noting, a.noted = true, a.noted[:0] }

// Noted returns the spans that were read since Note was called. The slice is used again by the next call of Note.
func (a *Ahead) Noted() []Span {
	a.noting = false
	return a.noted
}

// togetherRounds is the maximum number of rounds in Together. Each read of f that depends on an earlier one takes
// another round. After the last round, f reads the process itself.
const togetherRounds = 24

// Together calls f for the numbers from 0 to n-1, and reads the memory that all these calls need together. While the
// data of a read is not there yet, the read fails. After all calls, Together reads the missing data, and calls f again
// for the numbers whose reads have failed. It repeats that until no read fails for this reason. So f must read memory
// only through the VM of the Ahead, and the results of its last call for a number must replace those of earlier calls.
func (a *Ahead) Together(n int, f func(i int)) {
	pending := make([]int, n)
	for i := range pending {
		pending[i] = i
	}
	for round := 0; len(pending) > 0 && round < togetherRounds; round++ {
		if round > 0 {
			a.Fetch(a.missing)
		}
		a.collecting, a.missing = true, a.missing[:0]
		still := pending[:0]
		for _, i := range pending {
			before := len(a.missing)
			f(i)
			if len(a.missing) > before {
				still = append(still, i)
			}
		}
		a.collecting = false
		pending = still
	}
	for _, i := range pending {
		f(i)
	}
}
