package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/code"
	"github.com/gasm-profiler/gasm/profile/delays"
	"github.com/gasm-profiler/gasm/profile/events"
	"github.com/gasm-profiler/gasm/profile/tally"
	"github.com/gasm-profiler/gasm/profile/warmup"
	"github.com/gasm-profiler/gasm/report/reporttest"
	"github.com/gasm-profiler/gasm/report/schema"
	"github.com/gasm-profiler/gasm/report/text/listing"
	"github.com/gasm-profiler/gasm/report/text/view"
)

func options() Options {
	return Options{Gasm: "0.1.0", Options: view.Options{Top: 20,
		Code: listing.Options{DrawIntraJumps: true, DrawInterJumps: true}}}
}

// c returns counts, one for each event.
func c(n ...int64) tally.Counts { return n }

// jsonText returns the JSON report of profiles.
func jsonText(t *testing.T, h capture.Description, ps []profile.Profile) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteJSON(&b, reporttest.Profiles(h, ps...), options()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// small returns a profile with one of everything.
func small() profile.Profile {
	return profile.Profile{
		Trial: "org.sample.Bench.measure (size=10)", PIDs: []int{25134, 25190}, WindowSeconds: 3.01,
		Counters: []string{"cycles", "branches"},
		Accounts: []profile.Account{{Total: 12, OtherProcess: 1, OutsideWindow: 1, Profiled: 10, Compiled: 7, Kernel: 3}, {}},
		Regions: []profile.Region{{
			Source: "c2, level 4, osr", Method: "Workload::<init>", CompileID: 145, OSR: true, PIDs: []int{25134, 25190},
			Lo: 0x7fdec8ed6360, Hi: 0x7fdec8ed6367, Counts: c(7, 0), Hot: true,
			Lines: []code.Line{{
				Instruction: printassembly.Instruction{
					Lo: 0x7fdec8ed6360, Hi: 0x7fdec8ed6367, Text: "mov    %eax,-0x14000(%rsp)", Section: "Verified Entry Point",
					Comments: []string{"{no_reloc}"}, Frames: []printassembly.Frame{{Method: "Workload::dot", BCI: 13, Line: 20}},
				},
				Counts: c(7, 0),
			}},
		}, {Source: "stub", Method: "StubRoutines::libmLog", TooBig: 1834, Counts: c(0, 0)}},
		Methods: []profile.Method{{Source: "c2, level 4, osr", Name: "Workload::<init>", CompileID: 145, Blobs: 2,
			Counts: c(7, 0)}},
		Frames: []profile.FrameTotal{{Method: "Workload::dot", Counts: c(7, 0), Total: c(7, 0),
			Lines: []profile.LineTotal{{Line: 20, Counts: c(7, 0)}}}},
		Native:  []profile.NativeFunction{{Module: "kernel", Symbol: "clear_page_rep", Counts: c(3, 0)}},
		Sources: []profile.Source{{Source: "c2, level 4, osr", Counts: c(7, 0)}, {Source: "kernel", Counts: c(3, 0)}},
		Events: []events.Total{{Kind: event.GC, Name: "Pause Young (Normal)", Count: 3, Nanos: 12_500_000,
			LongestNanos: 6_100_000, Counts: c(2, 0)},
			{Kind: event.Safepoint, Name: "Cleanup", Count: 1, Nanos: 1_000_000, LongestNanos: 1_000_000, WaitNanos: 900_000,
				LongestWaitNanos: 900_000, Counts: c(1, 0)}},
		Delays: []delays.Delay{{Source: "c2, level 4, osr", Method: "Workload::<init>", CompileID: 145, Region: 0,
			Counts: c(1, 0), Lines: []delays.Line{{
				Instruction: printassembly.Instruction{Lo: 0x7fdec8ed6360, Hi: 0x7fdec8ed6367, Text: "mov    %eax,-0x14000(%rsp)",
					Frames: []printassembly.Frame{{Method: "Workload::dot", BCI: 13, Line: 20}}},
				Counts: c(1, 0),
			}}}},
		Compilations: []warmup.Version{
			{Source: "c1, level 3", Method: "Workload::<init>", CompileID: 12, Level: 3, PID: 25134, MadeMillis: 81, MadeByMillis: 81,
				Counts: c(0, 0),
				Ended:  &printassembly.End{UptimeMillis: 104}},
			{Source: "c2, level 4", Method: "Workload::<init>", CompileID: 99, Level: 4, PID: 25134, MadeMillis: 104,
				MadeByMillis: 104, Counts: c(1, 0),
				Ended: &printassembly.End{UptimeMillis: 2040, Reason: "uncommon trap", Trap: "unstable_if"}, EndedInside: true},
			{Source: "c2, level 4, osr", Method: "Workload::<init>", CompileID: 145, Level: 4, OSR: true, PID: 25134,
				MadeMillis: 2051, MadeByMillis: 2090, MadeInside: true, Counts: c(6, 0)},
		},
		Warnings: []string{"one"},
	}
}

func TestJSON(t *testing.T) {
	h := reporttest.Header()
	h.Events = []string{"cycles", "branches"}
	gasmtest.Golden(t, "small.json", jsonText(t, h, []profile.Profile{small()}))
}

// TestSchema checks full and empty reports against the published schema.
func TestSchema(t *testing.T) {
	rules, err := os.ReadFile("testdata/schema1.json")
	if err != nil {
		t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(rules, &s); err != nil {
		t.Fatal(err)
	}
	h, two := reporttest.Trials(t)
	attached := reporttest.Header()
	attached.Command, attached.Attached, attached.Code, attached.JVMs[0].SafepointsOnly =
		nil, true, capture.CodeMixed, true
	sparse := small()
	sparse.SafepointsOnly, sparse.Regions[0].SafepointsOnly = sparse.Regions[0].Counts, true
	warm := reporttest.Profiles(h, two...)
	reporttest.AddWarmUp(warm)
	var warmText bytes.Buffer
	require.NoError(t, WriteJSON(&warmText, warm, Options{}))
	for name, report := range map[string][]byte{
		"warmup":   warmText.Bytes(),
		"sparse":   jsonText(t, attached, []profile.Profile{sparse}),
		"small":    jsonText(t, reporttest.Header(), []profile.Profile{small()}),
		"trials":   jsonText(t, h, two),
		"events":   jsonText(t, reporttest.Header(), []profile.Profile{reporttest.TwoEvents(t)}),
		"empty":    jsonText(t, reporttest.Header(), []profile.Profile{reporttest.Empty()}),
		"attached": jsonText(t, attached, []profile.Profile{small()}),
		"bare":     jsonText(t, capture.Description{}, nil),
	} {
		var doc any
		if err := json.Unmarshal(report, &doc); err != nil {
			t.Fatal(err)
		}
		for _, fault := range (ruleSet{s}).check(name, s, doc) {
			t.Error(fault)
		}
	}
	faulty := map[string]any{"schema": 2.0, "gasm": nil, "capture": map[string]any{}, "profiles": []any{}, "more": 1.0}
	if faults := (ruleSet{s}).check("faulty", s, faulty); len(faults) < 4 {
		t.Errorf("the check is blind: %q", faults)
	}
}

// After gasm attach, the JSON report says how gasm obtained the code, and for which JVMs only the lines at safepoints
// are known.
func TestAttachedJSON(t *testing.T) {
	h := reporttest.Header()
	h.Command, h.Attached, h.Code = []string{}, true, capture.CodeCopied
	for _, sparse := range []bool{false, true} {
		for i := range h.JVMs {
			h.JVMs[i].SafepointsOnly = sparse
		}
		p := reporttest.Workload(t)
		if p.Regions[0].SafepointsOnly = sparse; sparse {
			p.SafepointsOnly = p.Regions[0].Counts
		}
		var report schema.Report
		require.NoError(t, json.Unmarshal(jsonText(t, h, []profile.Profile{p}), &report))
		assert.Equal(t, sparse, report.Profiles[0].Regions[0].SafepointsOnly)
		assert.Equal(t, sparse, report.Profiles[0].SafepointsOnly != nil)
		assert.True(t, report.Capture.Attached)
		assert.Equal(t, "copied", report.Capture.Code)
		assert.Equal(t, sparse, report.Capture.JVMs[0].SafepointsOnly)
	}
}

func TestSitesJSON(t *testing.T) {
	ps := &profile.Profiles{Trials: []profile.Profile{reporttest.Sites(t)}}
	text, err := json.Marshal(JSON(ps, "test"))
	require.NoError(t, err)
	var rep schema.Report
	require.NoError(t, json.Unmarshal(text, &rep))
	p := &rep.Profiles[0]
	require.Len(t, p.Locks, 2)
	assert.Equal(t, []schema.SiteCaller{
		{Parent: -1, Method: "Workload::work", Line: 21, Count: 6, TotalMS: 60},
		{Parent: 0, Method: "Workload::<init>\x1b", Line: 9, Count: 2, TotalMS: 40},
		{Parent: 0, Method: "com.acme.Router::route", Line: 88, Count: 4, TotalMS: 20},
		{Parent: 1, Method: "java.lang.Thread::run", Line: 1583, Count: 2, TotalMS: 40},
		{Parent: 2, Method: "com.acme.Server::handle", Line: 40, Count: 4, TotalMS: 20},
		{Parent: 4, Method: "java.lang.Thread::run", Line: 1583, Count: 4, TotalMS: 20},
	}, p.Locks[0].Callers)
	p.Locks[0].Callers = nil
	assert.Equal(t, schema.Lock{At: &schema.Frame{Method: "Workload::work", BCI: 7, Line: 21},
		Class: "java.util.concurrent.ConcurrentHashMap$Node", Owner: "worker-", Count: 6, TotalMS: 60, LongestMS: 31},
		p.Locks[0])
	assert.Nil(t, p.Locks[1].At)
	assert.Empty(t, p.Locks[1].Callers)
	require.Len(t, p.Parks, 1)
	require.Len(t, p.Allocations, 3)
	assert.Equal(t, []schema.SiteCaller{
		{Parent: -1, Method: "Workload::allocate", Line: 33, Count: 120, Bytes: 250_500_000},
		{Parent: 0, Method: "com.acme.Deep::down", Line: 3, Count: 120, Bytes: 250_500_000},
		{Parent: 1, Count: 120, Bytes: 250_500_000},
	}, p.Allocations[0].Callers)
	assert.Equal(t, int64(250_500_000), p.Allocations[0].Bytes)
	assert.Equal(t, 33, p.Allocations[0].At.Line)
}

// FuzzLayoutJSON checks that the layout only adds blanks, whatever the document's strings contain.
func FuzzLayoutJSON(f *testing.F) {
	f.Add(`a "quoted" {thing}, [and]: \\`, 20)
	f.Fuzz(func(t *testing.T, s string, n int) {
		doc := map[string]any{s: s, "list": []any{s, n, nil, []any{}, map[string]any{}}, "long": strings.Repeat(s, n&15)}
		want, err := json.Marshal([]any{doc, doc})
		if err != nil {
			t.Fatal(err)
		}
		var laidOut, got bytes.Buffer
		w := bufio.NewWriter(&laidOut)
		layoutJSON(w, want, 0)
		if err := errors.Join(w.Flush(), json.Compact(&got, laidOut.Bytes())); err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%v: got %s, want %s", err, got.Bytes(), want)
		}
	})
}

// A ruleSet checks documents by a JSON Schema. It knows the few keywords that schema1.json has.
type ruleSet struct{ root map[string]any }

func (s ruleSet) check(path string, rule map[string]any, doc any) (faults []string) {
	if ref, ok := rule["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/$defs/")
		return s.check(path, s.root["$defs"].(map[string]any)[name].(map[string]any), doc)
	}
	if want, ok := rule["const"]; ok && want != doc {
		faults = append(faults, fmt.Sprintf("%s: %v, want %v", path, doc, want))
	}
	if want, ok := rule["type"].(string); ok && want != typeOf(doc) && !(want == "number" && typeOf(doc) == "integer") {
		return append(faults, fmt.Sprintf("%s: %s, want %s", path, typeOf(doc), want))
	}
	switch doc := doc.(type) {
	case string:
		if p, ok := rule["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(doc) {
			faults = append(faults, fmt.Sprintf("%s: %q does not match %s", path, doc, p))
		}
	case []any:
		for i, element := range doc {
			faults = append(faults, s.check(fmt.Sprintf("%s[%d]", path, i), rule["items"].(map[string]any), element)...)
		}
	case map[string]any:
		faults = append(faults, s.checkObject(path, rule, doc)...)
	}
	return faults
}

func (s ruleSet) checkObject(path string, rule, doc map[string]any) (faults []string) {
	required, _ := rule["required"].([]any)
	for _, name := range required {
		if _, ok := doc[name.(string)]; !ok {
			faults = append(faults, fmt.Sprintf("%s: %v is missing", path, name))
		}
	}
	properties, _ := rule["properties"].(map[string]any)
	others, _ := rule["additionalProperties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(doc)) {
		r, ok := properties[name].(map[string]any)
		if !ok {
			r = others
		}
		if r == nil {
			faults = append(faults, fmt.Sprintf("%s: %s is not in the schema", path, name))
			continue
		}
		faults = append(faults, s.check(path+"."+name, r, doc[name])...)
	}
	return faults
}

func typeOf(doc any) string {
	switch doc := doc.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case float64:
		if doc == float64(int64(doc)) {
			return "integer"
		}
	}
	return "number"
}
