package usdt

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// lookPause is the time between two readings of the events.
const lookPause = 20 * time.Millisecond

// A Recorder records probes of one JVM.
type Recorder struct {
	from    source
	sink    *sink
	age     func() // forgets texts if they may have changed or if there are too many
	close   func() // called at the end; may be nil
	unknown []string
	set     int64         // when the probes were set, on CLOCK_MONOTONIC
	stop    chan struct{} // closed when no more records come
	done    chan struct{} // closed when all records were read
}

// A source makes the kernel report the firings of probes. There are three kinds: bpf, uprobes and dtraced.
type source interface {
	// read calls give(record) for each record that has come since the last call. The records of each thread are in
	// order. If an older record may still come, the newer ones are held back for a later call. If the parameter all is
	// true, as in the last call, nothing is held back. A record is valid only during the call of give.
	read(all bool, give func(record []byte))
	detach() error // ends the recording; the error says why records are missing
	lost() int64   // the number of events that were lost
	note() string  // what is different from the best way to record; "" if this is the best way
	close()
}

// A library is the libjvm.so of a process.
type library struct {
	file   *os.File // the opened libjvm.so; nil if it is not known
	path   string   // a path that gasm can open while file is open
	lo, hi uint64   // addresses of its code in the process; 0 if they are not known
	// signature has the bits of a return address on the stack that may belong to a signature (pointer authentication on
	// arm64). They are cleared before an address is compared or kept.
	signature uint64
}

func (l *library) close() {
	if l.file != nil {
		l.file.Close()
	}
}

// begin starts a goroutine that reads the records of the source, and returns r.
func (r *Recorder) begin() *Recorder {
	r.set = monotonic.Nanos()
	r.stop, r.done = make(chan struct{}), make(chan struct{})
	go r.read()
	return r
}

// recordByDTrace makes DTrace record the probes.
func (r *Recorder) recordByDTrace(ctx context.Context, pid int, lib library, chosen []Probe, o Options,
	why string) error {
	places, layouts := layOut(byName(chosen))
	d, err := openDTrace(ctx, pid, lib, places, layouts, o.Sudo, why)
	if err != nil {
		return err
	}
	r.from, r.age = d, d.forget
	r.sink = newSink(o.Text, places, layouts)
	r.sink.texts, r.sink.thread, r.sink.placed, r.sink.signature =
		d.text, func(own int) int { return own }, o.Placed, lib.signature
	return nil
}

// read reads records until the recorder is stopped. It polls: if each firing of a probe woke it up,
// that would cost the JVM more time than the firing itself.
func (r *Recorder) read() {
	defer close(r.done)
	look := time.NewTicker(lookPause)
	defer look.Stop()
	for stopped := false; !stopped; {
		select {
		case <-look.C:
		case <-r.stop:
			stopped = true
		}
		r.from.read(stopped, r.sink.take)
		r.sink.flush()
		r.age()
	}
}

// Stop ends the recording, and returns what it has found.
func (r *Recorder) Stop() Result {
	// The kernel detaches the BPF program from one place after another. While it does so, only some
	// of the probes still record. So records from this moment on are left out.
	r.sink.until.Store(uint64(monotonic.Nanos()))
	err := r.from.detach()
	close(r.stop)
	<-r.done
	lost := r.from.lost()
	r.from.close()
	defer func() {
		if r.close != nil {
			r.close()
		}
	}()
	r.sink.end(r.sink.until.Load(), lost)
	result := Result{Events: r.sink.events, Lost: lost + r.sink.full, Unknown: r.unknown, Note: r.from.note(),
		SetMonoNanos: r.set, Err: errors.Join(err, r.sink.err)}
	if _, told := r.from.(*dtraced); told {
		result.SetMonoNanos = 0
	}
	return result
}
