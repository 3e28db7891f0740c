package perfetto

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/tracetest"
)

// needTraceProcessor returns the path of Perfetto's trace_processor_shell: $TRACE_PROCESSOR, or the one on the PATH.
func needTraceProcessor(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("TRACE_PROCESSOR"); path != "" {
		return path
	}
	return gasmtest.NeedTool(t, "trace_processor_shell",
		"set TRACE_PROCESSOR to the one of https://perfetto.dev/docs/analysis/trace-processor")
}

// query returns the rows that trace_processor_shell prints for a query, without the heading.
func query(t *testing.T, shell, trace, sql string) [][]string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "query.sql")
	require.NoError(t, os.WriteFile(file, []byte(sql), 0o644))
	var out, errs bytes.Buffer
	cmd := exec.Command(shell, "-q", file, trace)
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Run(), errs.String())
	r := csv.NewReader(strings.NewReader(strings.TrimSpace(out.String())))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	require.NoError(t, err, out.String())
	require.NotEmpty(t, rows, errs.String())
	return rows[1:]
}

// lines returns rows as sorted lines.
func lines(rows [][]string) []string {
	all := make([]string, 0, len(rows))
	for _, row := range rows {
		all = append(all, strings.Join(row, "\t"))
	}
	slices.Sort(all)
	return all
}

// counted returns each distinct line with the number of its occurrences, sorted.
func counted(all []string) []string {
	counts := map[string]int{}
	for _, line := range all {
		counts[line]++
	}
	var out []string
	for line, n := range counts {
		out = append(out, fmt.Sprintf("%s\t%d", line, n))
	}
	slices.Sort(out)
	return out
}

// The SQL of the test.
const (
	// A trace_processor of 2022 counts the stacks of events, which it does not know yet, as unknown_extension_fields.
	sqlErrors  = `select name, value from stats where severity in ('error', 'data_loss') and value > 0 and name != 'unknown_extension_fields'`
	sqlClock   = `select min(ts), max(ts) from perf_sample`
	sqlThreads = `select p.pid, ifnull(p.name, ''), t.tid, ifnull(t.name, ''), count(*) from perf_sample s join thread t using (utid) join process p using (upid) group by 1, 2, 3, 4`
	sqlCallers = `select c.id, ifnull(c.parent_id, -1), f.name from stack_profile_callsite c join stack_profile_frame f on f.id = c.frame_id`
	sqlStacks  = `select t.tid, s.callsite_id, count(*) from perf_sample s join thread t using (utid) group by 1, 2`
	sqlSlices  = `select p.pid, t.tid, s.category, s.name, s.ts, s.dur from slice s join thread_track k on k.id = s.track_id join thread t using (utid) join process p using (upid)
		union all
		select p.pid, 0, s.category, s.name, s.ts, s.dur from slice s join process_track k on k.id = s.track_id join process p using (upid)`
	sqlArgs = `select s.ts, a.key, a.display_value from slice s join args a using (arg_set_id) where a.key like 'debug.%'`
)

// Perfetto's trace_processor finds in a trace what gasm has written: no error, and the same processes, threads,
// samples, stacks, events and arguments.
func TestTraceProcessor(t *testing.T) {
	shell := needTraceProcessor(t)
	for _, name := range wholeCaptures {
		t.Run(name, func(t *testing.T) {
			text, _ := traceOf(t, open(t, name))
			checkTraceProcessor(t, shell, text)
		})
	}
}

// checkTraceProcessor compares what trace_processor finds in a trace with what tracetest finds.
func checkTraceProcessor(t *testing.T, shell string, text []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trace.pftrace")
	require.NoError(t, os.WriteFile(file, text, 0o644))
	trace := decode(t, text)
	ask := func(sql string) []string { return lines(query(t, shell, file, sql)) }

	var lost []string
	if trace.Lost > 0 {
		lost = append(lost, fmt.Sprintf("perf_cpu_lost_records\t%d", trace.Lost))
	}
	assert.Equal(t, strings.Join(lost, "\n"), strings.Join(ask(sqlErrors), "\n"))
	first := slices.MinFunc(trace.Samples, func(a, b tracetest.Sample) int {
		return cmp.Compare(a.MonoNanos,
			b.MonoNanos)
	})
	last := slices.MaxFunc(trace.Samples, func(a, b tracetest.Sample) int { return cmp.Compare(a.MonoNanos, b.MonoNanos) })
	assert.Equal(t, []string{fmt.Sprintf("%d\t%d", first.MonoNanos, last.MonoNanos)}, ask(sqlClock))

	var threads, stacks, slicesOf, args []string
	for _, s := range trace.Samples {
		threads = append(threads, fmt.Sprintf("%d\t%s\t%d\t%s", s.PID, trace.Processes[s.PID], s.TID,
			trace.Threads[s.Thread]))
		var names []string
		for _, f := range slices.Backward(s.Stack) {
			names = append(names, f.Function)
		}
		stacks = append(stacks, fmt.Sprintf("%d\t%s", s.TID, strings.Join(names, ";")))
	}
	assert.Equal(t, counted(threads), ask(sqlThreads))
	same(t, counted(stacks), stacksOf(query(t, shell, file, sqlCallers), query(t, shell, file, sqlStacks)))
	for _, s := range trace.Slices {
		slicesOf = append(slicesOf, fmt.Sprintf("%d\t%d\t%s\t%s\t%d\t%d", s.PID, s.TID, s.Category, s.Name, s.MonoNanos,
			s.Nanos))
		for key, value := range s.Args {
			args = append(args, fmt.Sprintf("%d\tdebug.%s\t%s", s.MonoNanos, key, value))
		}
	}
	same(t, slicesOf, ask(sqlSlices))
	same(t, args, ask(sqlArgs))
}

// stacksOf returns lines from the rows of sqlStacks, as counted does: the thread, the names of the frames from the
// outermost to the innermost, and how many samples have them.
func stacksOf(callers, rows [][]string) []string {
	var all []string
	type caller struct{ parent, name string }
	byID := map[string]caller{}
	for _, c := range callers {
		byID[c[0]] = caller{c[1], c[2]}
	}
	for _, row := range rows {
		var names []string
		for c, ok := byID[row[1]]; ok; c, ok = byID[c.parent] {
			names = append(names, c.name)
		}
		slices.Reverse(names)
		n, _ := strconv.Atoi(row[2])
		all = append(all, slices.Repeat([]string{row[0] + "\t" + strings.Join(names, ";")}, n)...)
	}
	return counted(all)
}

// same compares lines in any order. There may be many, so it shows only the first one that differs.
func same(t *testing.T, want, got []string) {
	t.Helper()
	slices.Sort(want)
	slices.Sort(got)
	assert.Equal(t, len(want), len(got))
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			assert.Equal(t, want[i], got[i])
			return
		}
	}
}
