package lines

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/push"
)

func TestLine(t *testing.T) {
	main, sum := &pprof.Function{ID: 1, Name: "org.acme.Shop::main"}, &pprof.Function{ID: 2,
		Name: "org.acme.Cart::s\u202eum\x1b"}
	inner := &pprof.Location{ID: 1, Line: []pprof.Line{{Function: sum, Line: 40}, {Function: main, Line: 13}}}
	outer := &pprof.Location{ID: 2, Line: []pprof.Line{{Function: main}}}
	p := pprof.Profile{SampleType: []*pprof.ValueType{{Type: "samples", Unit: "count"},
		{Type: "cpu", Unit: "nanoseconds"}},
		Sample:   []*pprof.Sample{{Location: []*pprof.Location{inner, outer}, Value: []int64{7, 70}}},
		Location: []*pprof.Location{inner, outer}, Function: []*pprof.Function{main, sum}}
	var text, out bytes.Buffer
	require.NoError(t, p.Write(&text))
	at := time.Date(2026, 11, 27, 13, 2, 0, 0, time.UTC)
	w := New(&out, func(error) { t.Error("closed") })
	require.NoError(t, w.Send(t.Context(), &push.Profile{Labels: []push.Label{{Name: "service.name", Value: "shop"}},
		From: at, To: at.Add(15 * time.Second),
		Samples: 7, CPUNanos: 70, Lost: 2, Pprof: text.Bytes()}))
	assert.Equal(t, byte('\n'), out.Bytes()[out.Len()-1])
	assert.NotContains(t, out.String(), "\u202e")
	assert.Equal(t, 1, bytes.Count(out.Bytes(), []byte("\n")))
	assert.JSONEq(t, `{"type":"cpu","from":"2026-11-27T13:02:00Z","to":"2026-11-27T13:02:15Z","labels":{"service.name":"shop"},"samples":7,"cpu_nanoseconds":70,"lost":2,
		"stacks":[{"samples":7,"frames":["org.acme.Shop::main","org.acme.Shop::main:13","org.acme.Cart::s\u202eum\u001b:40"]}]}`, out.String())
	assert.True(t, json.Valid(out.Bytes()))
}

// TestEventLine checks lines of events.
func TestEventLine(t *testing.T) {
	f := &pprof.Function{ID: 1, Name: "A::f"}
	l := &pprof.Location{ID: 1, Line: []pprof.Line{{Function: f, Line: 7}}}
	for kind, want := range map[push.Kind]string{
		push.Lock: `{"type":"lock","contentions":3,"delay_nanoseconds":70,
			"stacks":[{"contentions":1,"delay_nanoseconds":70,"frames":["A::f:7"]},
				{"contentions":2,"delay_nanoseconds":0,"frames":["A::f:7","A::f:7"]}],`,
		push.Alloc: `{"type":"alloc","alloc_samples":3,"alloc_space_bytes":70,
			"stacks":[{"alloc_samples":1,"alloc_space_bytes":70,"frames":["A::f:7"]},
				{"alloc_samples":2,"alloc_space_bytes":0,"frames":["A::f:7","A::f:7"]}],`,
	} {
		p := pprof.Profile{SampleType: []*pprof.ValueType{{Type: "n", Unit: "count"}, {Type: "x", Unit: "y"}},
			Sample: []*pprof.Sample{{Location: []*pprof.Location{l}, Value: []int64{1, 70}},
				{Location: []*pprof.Location{l, l}, Value: []int64{2, 0}}},
			Location: []*pprof.Location{l}, Function: []*pprof.Function{f}}
		var text, out bytes.Buffer
		require.NoError(t, p.Write(&text))
		require.NoError(t, New(&out, nil).Send(t.Context(), &push.Profile{Kind: kind, Samples: 3, Pprof: text.Bytes()}))
		const rest = `"from":"0001-01-01T00:00:00Z","to":"0001-01-01T00:00:00Z","labels":{}}`
		assert.JSONEq(t, want+rest, out.String())
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestBroken(t *testing.T) {
	var text bytes.Buffer
	require.NoError(t, (&pprof.Profile{SampleType: []*pprof.ValueType{{Type: "samples", Unit: "count"}}}).Write(&text))
	var why error
	w := New(broken{}, func(err error) { why = err })
	refused := &push.RefusedError{}
	assert.ErrorAs(t, w.Send(t.Context(), &push.Profile{Pprof: text.Bytes()}), &refused)
	assert.EqualError(t, why, "no space left")
	assert.ErrorAs(t, w.Send(t.Context(), &push.Profile{Pprof: []byte("x")}), &refused)
}
