package profile

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile/choice"
)

// One method was compiled three times, the last time within the window. Another method is too cold to be listed.
func TestCompilations(t *testing.T) {
	ended := "<make_not_entrant thread='1' reason='uncommon trap' compile_id='2' compiler='c2' level='4' stamp='0.040'/>\n"
	log := newLog(t, method("c1", 5, 1, 3, "A::a", 0x1000, nops(16)), c2(20, 2, "A::a", 0x2000, nops(16)),
		c2(30, 3, "B::b", 0x3000, nops(16)),
		ended+c2(50, 4, "A::a", 0x4000, nops(16)))
	start := int64(7e9)
	jvm := capture.JVM{PID: 1, Log: log, StartMonoNanos: start}
	trial := capture.Trial{Windows: []capture.Window{{PID: 1,
		Span: capture.Span{FromMonoNanos: start + 35e6, ToMonoNanos: start + 1e9}}}}
	b := NewBuilder(choice.Config{JVMs: []capture.JVM{jvm}, Trials: []capture.Trial{trial}})
	samples := slices.Concat(repeat(30, at(1, 36, 0x2000)), repeat(70, at(1, 60, 0x4000)), repeat(1, at(1, 60, 0x3000)),
		repeat(9, native(1, 60, "libc.so.6", "f")))
	for i := range samples {
		samples[i].MonoNanos += start
	}
	add(b, samples...)
	p := build(t, b, choice.DefaultOptions())[0]
	var got []string
	for _, c := range p.Compilations {
		text := fmt.Sprintf("%s %s %d: %d, made %d %v", c.Source, c.Method, c.CompileID, c.Counts[0], c.MadeMillis,
			c.MadeInside)
		if c.Ended != nil {
			text += fmt.Sprintf(", left %d %v, %s", c.Ended.UptimeMillis, c.EndedInside, c.Ended.Reason)
		}
		got = append(got, text)
	}
	require.EqualValues(t, 110, p.Accounts[0].Profiled)
	assert.Equal(t, []string{
		"c1, level 3 A::a 1: 0, made 5 false",
		"c2, level 4 A::a 2: 30, made 20 false, left 40 true, uncommon trap",
		"c2, level 4 A::a 4: 70, made 50 true",
	}, got)
}
