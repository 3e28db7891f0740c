package profile

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/profile/history"
	"github.com/gasm-profiler/gasm/sampler"
)

// Listings have all code of a blob, and every sample in it. Unlisted has the rest. The history has all samples that the
// account has.
func TestListings(t *testing.T) {
	for _, name := range []string{"jdk8-full-hsdis", "jdk11-lean-none", "jdk17-lean-none", "jdk25-lean-none"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := gasmtest.Capture(t, name, gasmtest.Log)
			log, err := printassembly.NewLog(bytes.NewReader(text), int64(len(text)), name)
			require.NoError(t, err)
			samples := realSamples(t, gasmtest.Capture(t, name, gasmtest.Samples))
			jvm := capture.JVM{PID: log.PID, Log: log, StartMonoNanos: firstSample(t, samples, log.PID)}
			b := NewBuilder(choice.Config{JVMs: []capture.JVM{jvm}, Parts: true, History: true})
			add(b, samples...)
			o := choice.DefaultOptions()
			o.Listings, o.Hottest = 3000, true
			p := build(t, b, o)[0]
			a := p.Accounts[0]
			listed, instructions := p.Unlisted.Counts[0], 0
			for i := range p.Listings {
				l := &p.Listings[i]
				listed += l.Counts[0]
				instructions += len(l.Lines)
				sum := l.Beside[0]
				for k := range l.Lines {
					sum += l.Lines[k].Counts[0]
				}
				assert.Equal(t, l.Counts[0], sum, l.Method)
				checkOther(t, log, l)
			}
			assert.Equal(t, a.Compiled+a.Stub+a.Interpreter, listed)
			if name != "jdk11-lean-none" { // this log has no code of methods
				assert.NotEmpty(t, p.Listings)
			}
			assert.LessOrEqual(t, instructions, (1+hottestListing)*o.Listings)

			checkHottest(t, &p, samples)
			h := b.history.History()
			var inside, outside int
			for i := range h.JVMs {
				total := h.JVMs[i].Total()
				outside += int(total[history.NotCounted])
				inside += h.JVMs[i].Samples() - int(total[history.NotCounted])
			}
			assert.EqualValues(t, a.Profiled, inside)
			assert.EqualValues(t, a.OutsideWindow+a.OtherThread, outside)
		})
	}
}

// checkHottest compares the hottest instructions with the samples at their addresses, and with the lines of all
// listings.
func checkHottest(t *testing.T, p *Profile, samples []sampler.Sample) {
	t.Helper()
	at := map[uint64]int64{}
	for _, s := range samples {
		at[s.PC]++
	}
	type key struct {
		method string
		lo     uint64
	}
	hot := map[key]int64{}
	least := int64(1)
	for i, h := range p.Hottest {
		var there int64
		for pc := h.Lo; pc < h.Hi; pc++ {
			there += at[pc]
		}
		assert.LessOrEqual(t, h.Counts[0], there, "addresses of code are used again")
		if i > 0 {
			assert.LessOrEqual(t, h.Counts[0], least, "hottest first")
		}
		least = h.Counts[0]
		hot[key{h.Method, h.Lo}] = h.Counts[0]
	}
	if len(p.Listings) > 0 {
		require.NotEmpty(t, hot)
	}
	few := int64(choice.DefaultOptions().MinSamples)
	if len(hot) > 1 {
		assert.GreaterOrEqual(t, least, few)
	}
	if len(hot) < hottestLines && least >= few { // too few samples elsewhere
		least = few - 1
	}
	for _, l := range p.Listings {
		for _, line := range l.Lines {
			n, is := hot[key{l.Method, line.Lo}]
			assert.True(t, is || line.Counts[0] <= least, "%s: %s with %d samples", l.Method, line.Text, line.Counts[0])
			assert.True(t, !is || n == line.Counts[0], "%s: %s", l.Method, line.Text)
		}
	}
}

// checkOther compares a listing's texts in the other syntax with the code as decoded in that syntax.
func checkOther(t *testing.T, log *printassembly.Log, l *Listing) {
	t.Helper()
	if l.Other == nil {
		return
	}
	for i := range log.Blobs {
		b := &log.Blobs[i]
		if b.Lo != l.Lo || b.Name != l.Method || b.ID != l.CompileID {
			continue
		}
		code, err := log.Code(b, disasm.Intel)
		require.NoError(t, err)
		require.Len(t, l.Other, len(code))
		for k := range code {
			assert.Equal(t, code[k].Text, l.Other[k])
		}
	}
}
