package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	pprof "github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/schema"
)

// recordHost records the program Hosts, and changes the name of the host in the capture.
func recordHost(t *testing.T, dir, host string, alphas int) string {
	t.Helper()
	out := filepath.Join(dir, host)
	r := runGasm(t, []string{"profile", "--frequency", "499", "--fixed-frequency", "-o", out, "--report", os.DevNull, "--",
		gasmtest.NeedJDKs(t, gasmtest.WholeJDK17)[0].Java(), "-cp", javaPrograms(t), "Hosts", strconv.Itoa(alphas), "1500"})
	require.Equal(t, 0, r.code, r.stderr)
	changeCapture(t, out, func(d *capture.Description) { d.Host.Name = host })
	return out
}

func changeCapture(t *testing.T, dir string, change func(*capture.Description)) {
	t.Helper()
	d, err := capture.ReadDescription(dir)
	require.NoError(t, err)
	change(d)
	require.NoError(t, d.Write(dir))
}

// jsonOf returns the JSON report of captures.
func jsonOf(t *testing.T, paths ...string) schema.Report {
	t.Helper()
	r := runGasm(t, append([]string{"report", "--format", "json"}, paths...))
	require.Equal(t, 0, r.code, r.stderr)
	return readReport(t, []byte(r.stdout))
}

// slowSums adds up numbers of a JSON report by name, without gasm's types: all samples of the account by row, and those
// of methods, frames, native functions, sources and threads.
func slowSums(t *testing.T, sums map[string]float64, paths ...string) map[string]float64 {
	t.Helper()
	r := runGasm(t, append([]string{"report", "--format", "json"}, paths...))
	require.Equal(t, 0, r.code, r.stderr)
	var report map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &report))
	if sums == nil {
		sums = map[string]float64{}
	}
	add := func(key string, counts any) {
		for event, n := range counts.(map[string]any) {
			if rows, ok := n.(map[string]any); ok {
				for row, n := range rows {
					sums[key+" "+row+" "+event] += n.(float64)
				}
				continue
			}
			if n.(float64) != 0 { // frames of methods that only call others are listed from 1 % of a profile on
				sums[key+" "+event] += n.(float64)
			}
		}
	}
	for _, p := range report["profiles"].([]any) {
		p := p.(map[string]any)
		add("account", p["account"])
		for list, names := range map[string][]string{"methods": {"source", "name"}, "frames": {"method"},
			"native": {"module", "symbol"}, "sources": {"source"}, "threads": {"kind"}, "regions": {"source", "method"}} {
			for _, item := range p[list].([]any) {
				item, key := item.(map[string]any), list
				for _, name := range names {
					key += " " + item[name].(string)
				}
				add(key, item["counts"])
			}
		}
	}
	return sums
}

// TestHosts records a program on three "hosts", one of which does something else. In the merged report, every number is
// the sum of the numbers of the three reports, and the table of hosts says which one is different.
func TestHosts(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	dir := t.TempDir()
	a, b, c := recordHost(t, dir, "host-a", 80), recordHost(t, dir, "host-b", 80), recordHost(t, dir, "host-c", 20)

	var want map[string]float64
	for _, one := range []string{a, b, c} {
		want = slowSums(t, want, one)
	}
	assert.Equal(t, want, slowSums(t, nil, a, b, c))
	assert.Equal(t, want, slowSums(t, nil, dir), "the folder of the three")

	report := jsonOf(t, a, b, c)
	require.Len(t, report.Profiles, 1)
	p := &report.Profiles[0]
	event := p.Account.Events[0]
	t.Run("formats", func(t *testing.T) { checkFormatsOfHosts(t, p.Account.Of(event).Profiled, a, b, c) })
	alpha := 0
	for _, r := range p.Regions {
		if r.Method == "Hosts::alpha" && r.Source == "c2, level 4" && len(r.PIDs) == 3 {
			alpha++
		}
	}
	assert.Positive(t, alpha, "equal code of three hosts is one region: %+v", regionNames(p))

	require.Len(t, p.Hosts, 3)
	sum := int64(0)
	for _, h := range p.Hosts {
		sum += h.Samples
	}
	assert.Equal(t, p.Account.Of(event).Profiled, sum)
	odd := p.Hosts[0]
	assert.Equal(t, "host-c", odd.Name)
	require.NotNil(t, odd.Farthest)
	assert.True(t, odd.Farthest.Differs)
	assert.Contains(t, []string{"Hosts::alpha", "Hosts::beta"}, odd.Farthest.Method)
	for _, h := range p.Hosts[1:] {
		assert.False(t, h.Farthest.Differs, "%+v", h.Farthest)
	}
	text := runGasm(t, []string{"report", a, b, c}).stdout
	assert.Regexp(t, `(?s)\[Hosts\].*host-c +[+-]\d.*: differs`, text)
	assert.NotRegexp(t, `host-[ab] .*: differs`, text)
	assert.Contains(t, runGasm(t, []string{"report", "--format", "html", a, b, c}).stdout, `>host-c<`)
	t.Run("diff", func(t *testing.T) { checkDiffOfHosts(t, a, b, c) })
}

func regionNames(p *schema.Profile) (names []string) {
	for _, r := range p.Regions {
		names = append(names, r.Source+" "+r.Method)
	}
	return names
}

// checkFormatsOfHosts checks that each format has all samples of the merged captures.
func checkFormatsOfHosts(t *testing.T, profiled int64, paths ...string) {
	merged := runGasm(t, append([]string{"report", "--format", "pprof"}, paths...))
	require.Equal(t, 0, merged.code, merged.stderr)
	p := readPprof(t, []byte(merged.stdout))
	assert.Equal(t, map[string]int64{"total": profiled}, pprofSums(p, total))
	for host, n := range pprofSums(p, func(s *pprof.Sample) string { return s.Label["host"][0] }) {
		one := runGasm(t, []string{"report", "--format", "pprof", filepath.Join(filepath.Dir(paths[0]), host)})
		assert.Equal(t, pprofSums(readPprof(t, []byte(one.stdout)), total)["total"], n, host)
	}
	sum := func(paths ...string) map[string]int64 {
		stacks := map[string]int64{}
		for _, path := range paths {
			r := runGasm(t, append([]string{"report", "--format", "collapsed"}, strings.Fields(path)...))
			require.Equal(t, 0, r.code, r.stderr)
			for line := range strings.Lines(r.stdout) {
				blank := strings.LastIndexByte(line, ' ')
				n, err := strconv.ParseInt(strings.TrimSpace(line[blank:]), 10, 64)
				require.NoError(t, err, line)
				stacks[line[:blank]] += n
			}
		}
		return stacks
	}
	assert.Equal(t, sum(paths...), sum(strings.Join(paths, " ")))
}

// checkDiffOfHosts compares the sides a,b and c: the hot method of the other side comes first, and a,b against itself
// has no change.
func checkDiffOfHosts(t *testing.T, a, b, c string) {
	r := runGasm(t, []string{"diff", "--before", a + "," + b, "--after", c})
	require.Equal(t, 0, r.code, r.stderr)
	assert.Regexp(t, `(?s)\[Changed Methods\].*Hosts::(alpha|beta)`, r.stdout)
	r = runGasm(t, []string{"diff", "--before", a + "," + b, "--after", b + "," + a})
	require.Equal(t, 0, r.code, r.stderr)
	assert.Contains(t, r.stdout, "Nothing changed above the noise")
}

// TestNotMerged checks that captures which can't be merged are refused or kept apart, and that gasm says so.
func TestNotMerged(t *testing.T) {
	t.Parallel()
	gasmtest.NeedNative(t)
	dir := t.TempDir()
	a, b := recordHost(t, dir, "host-a", 50), recordHost(t, dir, "host-b", 50)
	r := runGasm(t, []string{"report", a, b, a})
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.stderr, "are the same capture")

	changeCapture(t, b, func(d *capture.Description) { d.JVMs[0].Version = "99" })
	report := jsonOf(t, a, b)
	assert.Len(t, report.Profiles, 2, "one for each JDK")
	assert.Contains(t, strings.Join(report.Capture.Notes, "\n"), "not merged, because code of different JDKs differs: Hosts (")

	changeCapture(t, b, func(d *capture.Description) { d.Events = []string{"cycles"} })
	r = runGasm(t, []string{"report", a, b})
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.stderr, "samples of different events can't be added up; make a report of each")
}
