package sampler

import (
	"os"
	"testing"
	"time"
)

// Nothing is torn or there twice when DTrace is stopped while it prints as much
// as it can: a signal in the middle of its write would do that.
func TestDTraceStopsBetweenLines(t *testing.T) {
	needDTrace(t)
	for range 3 {
		x := hold(t, busy)
		y := hold(t, busy)
		d := startDTrace(t, DTraceOptions{Frequency: 4999})
		x.release(t)
		y.release(t)
		time.Sleep(900 * time.Millisecond)
		if err := d.Stop(); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(d.TextFile())
		if err != nil {
			t.Fatal(err)
		}
		seen := map[Sample]int{}
		r := NewDTraceReader(f, "text")
		for r.Scan() {
			switch rec := r.Record().(type) {
			case *Sample:
				seen[*rec]++
				if seen[*rec] == 2 {
					t.Errorf("twice: %+v", *rec)
				}
			case *SyntaxError:
				t.Error(rec)
			}
		}
		f.Close()
		t.Logf("%d samples", len(seen))
		x.cmd.Process.Kill() // DTrace takes its time to end while they run
		y.cmd.Process.Kill()
		d.Wait()
	}
}
