package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/push"
	"github.com/gasm-profiler/gasm/report/stacks"
	"github.com/gasm-profiler/gasm/top"
	"github.com/gasm-profiler/gasm/top/toptest"
)

// A kept is a Destination that keeps all profiles it gets.
type kept struct{ all []*push.Profile }

func (k *kept) String() string { return "kept" }

func (k *kept) Send(_ context.Context, p *push.Profile) error {
	k.all = append(k.all, p)
	return nil
}

// TestEmit checks that the profiles that a destination gets add up to all samples, and that each profile has its times,
// its labels and an ID of its own.
func TestEmit(t *testing.T) {
	r := toptest.New(t, "stacks", nil)
	k := &kept{}
	// The samples are of another machine. Their times become present ones, because a queue drops old profiles.
	offset := time.Now().UnixNano() - r.Start
	w := &Watcher{o: Options{Gasm: "1", Labels: []push.Label{{Name: "team", Value: "x"}},
		Say: func(text string) { t.Error(text) }}, model: r.Model,
		toWall: func() int64 { return offset },
		queues: []*queue{{push.NewQueue(k, func(string) {}), ""}}}
	for r.Second() {
		w.emit(2)
	}
	w.emit(0)
	w.emit(0)
	go w.queues[0].Run(t.Context())
	w.queues[0].Close(t.Context())
	require.Greater(t, len(k.all), 1)
	total, ids := int64(0), map[string]bool{}
	for i, p := range k.all {
		parsed, err := pprof.Parse(bytes.NewReader(p.Pprof))
		require.NoError(t, err)
		require.NoError(t, parsed.CheckValid())
		var samples, cpu int64
		for _, s := range parsed.Sample {
			samples += s.Value[0]
			cpu += s.Value[1]
		}
		assert.Equal(t, p.Samples, samples)
		assert.Equal(t, p.CPUNanos, cpu)
		assert.Equal(t, p.From.UnixNano(), parsed.TimeNanos)
		assert.InDelta(t, p.To.Sub(p.From), parsed.DurationNanos, 1000)
		assert.Equal(t, strconv.Itoa(r.PID), p.Label(push.ProcessID))
		assert.Equal(t, "x", p.Label("team"))
		assert.Len(t, p.ID, 36)
		assert.False(t, ids[p.ID])
		ids[p.ID] = true
		total += samples
		if i > 0 {
			assert.Equal(t, k.all[i-1].To, p.From)
		}
	}
	all := r.Model.Picture(top.SinceStart)
	assert.EqualValues(t, all.Total, total, "all samples of the capture")
	assert.Equal(t, k.all[0].Samples*stacks.Period(all.Head.Hertz), k.all[0].CPUNanos)
}

func TestNamed(t *testing.T) {
	p := &attach.Process{PID: 4711, Main: "org.acme.Server"}
	for words, want := range map[string]bool{"": true, "4711": true, "471": false, "acme": true, "Other": false,
		"Other acme": true} {
		assert.Equal(t, want, named(p, strings.Fields(words)), words)
	}
}

// TestDrawn checks that a share contains about that fraction of the JVMs, the same ones each time, and that a larger
// share contains those of a smaller one.
func TestDrawn(t *testing.T) {
	const n = 20000
	for _, share := range []float64{0.01, 0.1, 0.5, 1} {
		count := 0
		for i := range n {
			in := drawn("host", 1000+i, uint64(100*i), share)
			assert.Equal(t, in, drawn("host", 1000+i, uint64(100*i), share))
			if in {
				count++
				assert.True(t, drawn("host", 1000+i, uint64(100*i), share+0.1))
			}
		}
		assert.InDelta(t, share*n, count, 5*141, "%g", share) // five standard deviations at most
	}
	hosts := 0
	for i := range n {
		if drawn(fmt.Sprintf("host-%d", i), 1, 100, 0.1) {
			hosts++
		}
	}
	assert.InDelta(t, 0.1*n, hosts, 5*43)
}

// TestUnrecorded checks that a JVM that can't be recorded is reported once, and not while it may only be too early.
func TestUnrecorded(t *testing.T) {
	var said []string
	w := &Watcher{o: Options{Say: func(text string) { said = append(said, text) }}, budget: budget{share: 1},
		jvms: map[int]*jvm{}}
	p := attach.Process{PID: os.Getpid(), Main: "M", Unreadable: errors.New("no"), StartMonoNanos: monotonic.Nanos()}
	w.unrecorded(&p) // p is not in w.jvms yet
	require.True(t, w.wanted(&p))
	w.unrecorded(&p)
	assert.Empty(t, said)
	p.StartMonoNanos -= int64(youngTime)
	for range 3 {
		require.True(t, w.wanted(&p))
		w.unrecorded(&p)
	}
	assert.Equal(t, []string{fmt.Sprintf("JVM %d (M) is not profiled: no", p.PID)}, said)
	w.forget(time.Now())
	assert.Len(t, w.jvms, 1)
	w.forget(time.Now().Add(keptTime + time.Second))
	assert.Empty(t, w.jvms)
}

// TestSearched checks what the user is told after searches for JVMs.
func TestSearched(t *testing.T) {
	child := exec.Command("sleep", "1000")
	require.NoError(t, child.Start())
	defer child.Wait()
	defer child.Process.Kill()
	pid := strconv.Itoa(child.Process.Pid)
	none := "no JVM that runs has %s in the name of its main class or jar: gasm waits for one"
	for _, test := range []struct {
		words  []string
		jvms   []string
		first  string // what is said after the first search
		second string // and after the second one
	}{
		{first: "no JVM runs: gasm waits for the first one"},
		{jvms: []string{"org.acme.Shop"}},
		{words: []string{"Shop", "Cart"}, jvms: []string{"org.acme.Shop"}},
		{words: []string{"Cart"}, jvms: []string{"org.acme.Shop"}, first: fmt.Sprintf(none, "Cart")},
		{words: []string{"Cart", "Old"}, first: fmt.Sprintf(none, "Cart or Old")},
		{words: []string{pid}, jvms: []string{"org.acme.Shop"},
			second: "process " + pid + " (sleep) is not a JVM: it has not loaded libjvm.so, and so it is not profiled"},
		{words: []string{"1000"}, jvms: []string{"org.acme.Shop"}}, // the id of the first JVM
	} {
		said := make(chan string, 10)
		w := &Watcher{o: Options{Words: test.words, Say: func(text string) { said <- text }}, jvms: map[int]*jvm{},
			sending: t.Context()}
		for i, name := range test.jvms {
			w.jvms[1000+i] = &jvm{Process: attach.Process{PID: 1000 + i, Main: name}}
		}
		for _, want := range []string{test.first, test.second, ""} {
			asked := make(chan Status)
			go func() { asked <- w.Status() }() // as a request does, see -race
			w.searched()
			assert.False(t, (<-asked).Searched, "the status has not been updated")
			if want != "" {
				select {
				case got := <-said:
					assert.Equal(t, want, got, "%v", test.words)
				case <-time.After(time.Minute):
					t.Errorf("%v: nothing is said instead of %q", test.words, want)
				}
			}
		}
		assert.Empty(t, said, "%v", test.words)
	}
}

// TestPIDOfAnother checks that a JVM does not get the labels of an earlier JVM with the same process id.
func TestPIDOfAnother(t *testing.T) {
	w := &Watcher{budget: budget{share: 1}, jvms: map[int]*jvm{}}
	p := attach.Process{PID: os.Getpid(), Main: "First"}
	require.True(t, w.wanted(&p))
	first := w.jvms[p.PID]
	require.Eventually(t, func() bool { return first.labels.Load() != nil }, time.Minute, time.Millisecond)
	first.ticks-- // as if the process had started at another time
	p.Main = "Second"
	require.True(t, w.wanted(&p))
	require.NotSame(t, first, w.jvms[p.PID])
	for _, l := range w.labelsOf(p.PID, w.jvms[p.PID]) {
		if l.Name == push.ServiceName {
			assert.Equal(t, "Second", l.Value)
		}
	}
}
