package jfr

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

func TestSettings(t *testing.T) {
	text, err := Settings(11, []event.Kind{event.Alloc, event.Sleep, event.Alloc})
	require.NoError(t, err)
	assert.Equal(t, `<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0" label="gasm" description="What gasm shows beside samples" provider="gasm">
  <event name="jdk.ObjectAllocationInNewTLAB">
    <setting name="enabled">true</setting>
    <setting name="stackTrace">true</setting>
  </event>
  <event name="jdk.ObjectAllocationOutsideTLAB">
    <setting name="enabled">true</setting>
    <setting name="stackTrace">true</setting>
  </event>
  <event name="jdk.ThreadSleep">
    <setting name="enabled">true</setting>
    <setting name="stackTrace">true</setting>
    <setting name="threshold">0 ns</setting>
  </event>
  <event name="jdk.SafepointEnd">
    <setting name="enabled">true</setting>
    <setting name="stackTrace">false</setting>
    <setting name="threshold">0 ns</setting>
  </event>
  <event name="jdk.DataLoss">
    <setting name="enabled">true</setting>
    <setting name="stackTrace">false</setting>
  </event>
</configuration>
`, text)
	text, err = Settings(17, nil, "com.acme.\"Request\"")
	require.NoError(t, err)
	assert.Contains(t, text, "  <event name=\"com.acme.&#34;Request&#34;\">\n    <setting name=\"enabled\">true</setting>\n  </event>\n")
	starts := "  <event name=\"jdk.ThreadStart\">\n"
	for _, c := range []struct {
		feature, want int
		of            []event.Kind
	}{{17, 1, []event.Kind{event.Alloc}}, {17, 1, []event.Kind{event.Alloc, event.Thread}},
		{17, 0, []event.Kind{event.Lock}}, {11, 0, []event.Kind{event.Alloc}}} {
		text, err = Settings(c.feature, c.of)
		require.NoError(t, err)
		assert.Equal(t, c.want, strings.Count(text, starts), "%v", c)
	}
	_, err = Settings(17, []event.Kind{event.GC, event.Probe})
	assert.EqualError(t, err, `JFR has no events of the kind "usdt"; it has alloc, class, compile, gc, inlining, jfr, lock, park, safepoint, sleep, thread`)
}

// TestSettingsKnown looks for each event and setting in the settings files of the JDKs.
func TestSettingsKnown(t *testing.T) {
	type settings struct {
		Events []struct {
			Name     string `xml:"name,attr"`
			Settings []struct {
				Name string `xml:"name,attr"`
			} `xml:"setting"`
		} `xml:"event"`
	}
	for _, j := range gasmtest.NeedJDKs(t, withRecorder) {
		own, err := os.ReadFile(filepath.Join(j.Home, "lib", "jfr", "profile.jfc"))
		require.NoError(t, err)
		var theirs, ours settings
		require.NoError(t, xml.Unmarshal(own, &theirs))
		known := map[string]bool{}
		for _, e := range theirs.Events {
			for _, s := range e.Settings {
				known[e.Name+" "+s.Name] = true
			}
		}
		text, err := Settings(j.Feature, Kinds())
		require.NoError(t, err)
		require.NoError(t, xml.Unmarshal([]byte(text), &ours))
		require.NotEmpty(t, ours.Events)
		for _, e := range ours.Events {
			for _, s := range e.Settings {
				if s.Name != "stackTrace" || known[e.Name+" stackTrace"] { // omitted where it is the default
					assert.True(t, known[e.Name+" "+s.Name], "%s %s of JDK %d", e.Name, s.Name, j.Feature)
				}
			}
		}
	}
}

// TestSettingsLive records with gasm's settings. The recording must have events of each kind, and no other events of
// the JVM.
func TestSettingsLive(t *testing.T) {
	if testing.Short() {
		t.Skip("runs JVMs")
	}
	classes := recordedClasses(t)
	for _, j := range gasmtest.NeedJDKs(t, listed) {
		t.Run(j.Name(), func(t *testing.T) {
			text, err := Settings(j.Feature, Kinds())
			require.NoError(t, err)
			path := filepath.Join(t.TempDir(), "gasm.jfc")
			require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
			seen := map[string]int{}
			now := readClocks(t).MonoNanos
			recording := record(t, j, classes, path, "everything", "100")
			checkEvents(t, j, recording, now)
			r := open(t, recording)
			for r.Scan() {
				seen[r.Event().Type().Name]++
			}
			require.NoError(t, r.Err())
			assert.Equal(t, Damage{}, r.Damage())
			t.Log(seen)
			assert.Equal(t, 100, seen["test.Everything"])
			delete(seen, "test.Everything")
			for kind, events := range kinds {
				n := 0
				for _, e := range events {
					n += seen[e.event]
					delete(seen, e.event)
				}
				if kind != event.Own {
					assert.Positive(t, n, kind)
				}
			}
			assert.Empty(t, seen, "events that were not asked for")
		})
	}
}

// checkEvents checks the events of all kinds in a recording of a run of Recorded that began at a given moment.
func checkEvents(t *testing.T, j gasmtest.JDK, recording string, began int64) {
	t.Helper()
	clock := readClocks(t)
	anchor, exact, ok := FindAnchor(open(t, recording), clock.WallNanos, clock.MonoNanos, func() []int64 { return nil })
	require.True(t, ok)
	assert.Equal(t, j.Feature > 11, exact)
	byKind := map[event.Kind][]event.Event{}
	var locked, slept string // the stacks of a lock and a sleep
	x := NewEvents(open(t, recording), 4711, func(*Chunk) Anchor { return anchor })
	for x.Scan() {
		e := *x.Event()
		byKind[e.Kind] = append(byKind[e.Kind], e)
		assert.Equal(t, 4711, e.PID)
		assert.Greater(t, e.MonoNanos, began)
		assert.Less(t, e.EndMonoNanos(), clock.MonoNanos+2_000_000, "two milliseconds for JDK 11's clock")
		if len(e.Frames) > 1 {
			outer := e.Frames[len(e.Frames)-1]
			switch {
			case e.Kind == event.Lock && e.Name == "java.lang.Object":
				locked += " " + e.Frames[0].Method
				assert.Positive(t, e.Frames[0].Line)
			case e.Kind == event.Sleep:
				slept += " " + outer.Method
			}
		}
	}
	require.NoError(t, x.r.Err())
	for _, kind := range []event.Kind{event.GC, event.Safepoint, event.VMOperation, event.Compilation, event.Lock,
		event.Park, event.Sleep, event.Alloc, event.ClassLoad, event.Thread, event.Own} {
		assert.NotEmpty(t, byKind[kind], kind)
	}
	assert.Contains(t, locked, " Recorded::")
	assert.Contains(t, slept, " Recorded::main")
	for _, s := range byKind[event.Safepoint] {
		assert.Positive(t, s.WaitNanos)
		assert.Greater(t, s.Nanos, s.WaitNanos)
	}
	for _, c := range byKind[event.Compilation] {
		assert.Contains(t, c.Name, "::")
		assert.Positive(t, c.TID)
		assert.Equal(t, "id", c.Args[0].Name)
	}
	names := map[string]bool{}
	for _, e := range byKind[event.Thread] {
		names[e.Name] = true
	}
	assert.Contains(t, names, "Fäden 中")
	require.Len(t, byKind[event.Own], 100)
	event.Sort(byKind[event.Own]) // the file has them in another order
	one := byKind[event.Own][0]
	args := map[string]string{}
	for _, a := range one.Args {
		args[a.Name] = a.Value
	}
	assert.Equal(t, "test.Everything", one.Name)
	assert.Equal(t, "0", args["int32"])
	assert.Equal(t, "true", args["bool"])
	assert.NotContains(t, args, "startTime")
}
