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
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/perfetto/perfettotest"
)

// needTraceProcessor returns the path of Perfetto's trace_processor_shell: $TRACE_PROCESSOR, or what is on the PATH.
func needTraceProcessor(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("TRACE_PROCESSOR"); path != "" {
		return path
	}
	return gasmtest.NeedTool(t, "trace_processor_shell", "set TRACE_PROCESSOR to the one of https://perfetto.dev/docs/analysis/trace-processor")
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

// counted returns lines with how often each occurs, sorted.
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

// The SQL of the test. A stack is the names of its frames from the outermost to the innermost.
const (
	sqlErrors  = `select name, value from stats where severity in ('error', 'data_loss') and value > 0 order by 1`
	sqlClock   = `select min(ts), max(ts) from perf_sample`
	sqlThreads = `select p.pid, ifnull(p.name, ''), t.tid, ifnull(t.name, ''), count(*) from perf_sample s join thread t using (utid) join process p using (upid) group by 1, 2, 3, 4`
	sqlStacks  = `with recursive
		path(id, text) as (
			select c.id, f.name from stack_profile_callsite c join stack_profile_frame f on f.id = c.frame_id where c.parent_id is null
			union all
			select c.id, path.text || ';' || f.name from path join stack_profile_callsite c on c.parent_id = path.id join stack_profile_frame f on f.id = c.frame_id)
		select t.tid, path.text, count(*) from perf_sample s join thread t using (utid) left join path on path.id = s.callsite_id group by 1, 2`
	sqlSlices = `select ifnull(tp.pid, p.pid), ifnull(t.tid, 0), s.category, s.name, s.ts, s.dur
		from slice s left join thread_track tt on tt.id = s.track_id left join thread t using (utid) left join process tp on tp.upid = t.upid
		left join process_track pt on pt.id = s.track_id left join process p on p.upid = pt.upid`
	sqlArgs = `select s.ts, a.key, a.display_value from slice s join args a using (arg_set_id) where a.key like 'debug.%'`
)

// Perfetto's trace_processor finds in a trace what was written: no error, and the same processes, threads, samples,
// stacks, events and arguments.
func TestTraceProcessor(t *testing.T) {
	shell := needTraceProcessor(t)
	for _, name := range wholeCaptures {
		t.Run(name, func(t *testing.T) {
			text, _ := traceOf(t, open(t, name))
			checkTraceProcessor(t, shell, text)
		})
	}
}

// checkTraceProcessor compares what trace_processor finds in a trace with what perfettotest finds.
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
	assert.ElementsMatch(t, lost, ask(sqlErrors))
	first := slices.MinFunc(trace.Samples, func(a, b perfettotest.Sample) int { return cmp.Compare(a.MonoNanos, b.MonoNanos) })
	last := slices.MaxFunc(trace.Samples, func(a, b perfettotest.Sample) int { return cmp.Compare(a.MonoNanos, b.MonoNanos) })
	assert.Equal(t, []string{fmt.Sprintf("%d\t%d", first.MonoNanos, last.MonoNanos)}, ask(sqlClock))

	var threads, stacks, slicesOf, args []string
	for _, s := range trace.Samples {
		threads = append(threads, fmt.Sprintf("%d\t%s\t%d\t%s", s.PID, trace.Processes[s.PID], s.TID, trace.Threads[s.Thread]))
		var names []string
		for _, f := range slices.Backward(s.Stack) {
			names = append(names, f.Function)
		}
		stacks = append(stacks, fmt.Sprintf("%d\t%s", s.TID, strings.Join(names, ";")))
	}
	assert.Equal(t, counted(threads), ask(sqlThreads))
	assert.Equal(t, counted(stacks), ask(sqlStacks))
	for _, s := range trace.Slices {
		slicesOf = append(slicesOf, fmt.Sprintf("%d\t%d\t%s\t%s\t%d\t%d", s.PID, s.TID, s.Category, s.Name, s.MonoNanos, s.Nanos))
		for key, value := range s.Args {
			args = append(args, fmt.Sprintf("%d\tdebug.%s\t%s", s.MonoNanos, key, value))
		}
	}
	slices.Sort(slicesOf)
	slices.Sort(args)
	assert.ElementsMatch(t, slicesOf, ask(sqlSlices))
	assert.ElementsMatch(t, args, ask(sqlArgs))
}
