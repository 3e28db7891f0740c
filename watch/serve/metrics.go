package serve

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/gasm-profiler/gasm/push"
	"github.com/gasm-profiler/gasm/watch"
)

// A metric is a family of values in Prometheus's text format.
type metric struct {
	name, kind, help string
	values           []value
}

type value struct {
	labels []push.Label
	number float64
}

func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	status := s.o.Status()
	all := append(s.own(), watched(&status)...)
	_, _ = io.WriteString(w, textOf(all)) // fails if the client is gone
}

// own returns the metrics of this process, with the names that Prometheus's client libraries use.
func (s *Server) own() []metric {
	all := []metric{
		one("gasm_build_info", "gauge", "1, with the version of gasm.", 1, push.Label{Name: "version", Value: s.o.Gasm}),
		one("process_start_time_seconds", "gauge", "When gasm has started, in seconds since 1970.",
			float64(s.started.UnixMilli())/1e3),
	}
	var own, children syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) == nil &&
		syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children) == nil {
		all = append(all,
			one("process_cpu_seconds_total", "counter", "CPU time that gasm has used.", cpuSeconds(&own)),
			one("gasm_on_demand_cpu_seconds_total", "counter", "CPU time of the recordings that requests asked for.",
				cpuSeconds(&children)))
	}
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64)
			all = append(all, one("process_resident_memory_bytes", "gauge", "Memory that gasm uses.",
				float64(pages*int64(os.Getpagesize()))))
		}
	}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		all = append(all, one("process_open_fds", "gauge", "File descriptors that gasm has open.", float64(len(files))))
	}
	return all
}

func cpuSeconds(u *syscall.Rusage) float64 { return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9 }

// watched returns the metrics of what is watched.
func watched(s *watch.Status) []metric {
	states := map[watch.State]int{watch.StateProfiled: 0, watch.StateRefused: 0, watch.StateLeftOut: 0}
	for i := range s.JVMs {
		states[s.JVMs[i].State]++
	}
	jvms := metric{name: "gasm_jvms", kind: "gauge", help: "Running JVMs, by what gasm does with them."}
	for _, state := range []watch.State{watch.StateProfiled, watch.StateRefused, watch.StateLeftOut} {
		jvms.values = append(jvms.values, value{[]push.Label{{Name: "state", Value: string(state)}}, float64(states[state])})
	}
	pushed := metric{name: "gasm_push_profiles_total", kind: "counter",
		help: "Profiles that were sent, dropped because they waited for too long or were too many, or refused."}
	retries := metric{name: "gasm_push_retries_total", kind: "counter", help: "Failed attempts to send a profile."}
	waiting := metric{name: "gasm_push_waiting_profiles", kind: "gauge", help: "Profiles that were not sent yet."}
	bytes := metric{name: "gasm_push_waiting_bytes", kind: "gauge", help: "Size of the profiles that were not sent yet."}
	for i := range s.Queues {
		q := &s.Queues[i]
		to := push.Label{Name: "destination", Value: q.To}
		for _, result := range []struct {
			name  string
			count int64
		}{{"sent", q.Sent}, {"dropped", q.Dropped}, {"refused", q.Refused}} {
			pushed.values = append(pushed.values, value{[]push.Label{to, {Name: "result", Value: result.name}},
				float64(result.count)})
		}
		retries.values = append(retries.values, value{[]push.Label{to}, float64(q.Retries)})
		waiting.values = append(waiting.values, value{[]push.Label{to}, float64(q.Waiting)})
		bytes.values = append(bytes.values, value{[]push.Label{to}, float64(q.Bytes)})
	}
	beat := 0.0
	if !s.Beat.IsZero() {
		beat = float64(s.Beat.UnixMilli()) / 1e3
	}
	return []metric{
		one("gasm_samples_total", "counter", "Samples in the profiles that were made.", float64(s.Samples)),
		one("gasm_sampled_cpu_seconds_total", "counter", "CPU time that these samples stand for.", float64(s.CPUNanos)/1e9),
		one("gasm_lost_samples_total", "counter", "Samples that were lost.", float64(s.Lost)),
		one("gasm_profiles_total", "counter", "Profiles that were made.", float64(s.Profiles)),
		jvms,
		one("gasm_frequency_hertz", "gauge", "Samples per second and CPU that are asked for.", float64(s.Hertz)),
		one("gasm_share_ratio", "gauge", "Share of the JVMs that is watched.", s.Share),
		one("gasm_budget_ratio", "gauge", "Share of a processor that gasm may use; 0 without a limit.", s.Budget),
		one("gasm_last_beat_timestamp_seconds", "gauge", "When gasm was last seen working, in seconds since 1970.", beat),
		pushed, retries, waiting, bytes,
	}
}

// one returns a metric with one value.
func one(name, kind, help string, number float64, labels ...push.Label) metric {
	return metric{name, kind, help, []value{{labels, number}}}
}

// labelEscaper escapes the values of labels as the format requires.
var labelEscaper = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// textOf returns metrics in Prometheus's text format. Two values of a metric with the same labels are added up, because
// the format does not allow them.
func textOf(all []metric) string {
	var b strings.Builder
	for _, m := range all {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", m.name, m.help, m.name, m.kind)
		var order []string
		sums := map[string]float64{}
		for _, v := range m.values {
			var labels []string
			for _, l := range v.labels {
				labels = append(labels, l.Name+`="`+labelEscaper.Replace(strings.ToValidUTF8(l.Value, "_"))+`"`)
			}
			key := m.name
			if labels != nil {
				key += "{" + strings.Join(labels, ",") + "}"
			}
			if _, known := sums[key]; !known {
				order = append(order, key)
			}
			sums[key] += v.number
		}
		for _, key := range order {
			b.WriteString(key + " " + strconv.FormatFloat(sums[key], 'g', -1, 64) + "\n")
		}
	}
	return b.String()
}
