//go:build !linux

package usdt

import (
	"context"
	"fmt"
	"strconv"

	"github.com/gasm-profiler/gasm/event/usdt"
	"github.com/gasm-profiler/gasm/sampler/collect/dtrace"
)

// Allowed returns an error that says why this process may not record probes, or nil if it may. It
// tries DTrace, which is the only way to record probes on this system. The end of ctx kills DTrace.
func Allowed(ctx context.Context, _ string) (note string, err error) {
	return allowedByDTrace(ctx, "")
}

// Start begins to record probes of a JVM, and writes their text to o.Text. DTrace lists the JVM's
// probes. The addresses of the library's code stay unknown, so the code that allocates is not
// recorded. The recording goes on until [Recorder.Stop], or until the end of ctx, which kills
// DTrace.
func Start(ctx context.Context, pid int, o Options) (*Recorder, error) {
	listed, err := dtrace.List(ctx, o.Sudo, dtraceProviders(pid)...)
	if err != nil {
		return nil, err
	}
	if len(listed) == 0 {
		return nil, ErrNone
	}
	chosen, unknown := Select(probesListed(pid, listed), o.Patterns)
	if len(chosen) == 0 {
		return nil, fmt.Errorf("the JVM has none of the USDT probes %v: `dtrace -l -n 'hotspot%s:::'` lists them", unknown, strconv.Itoa(pid))
	}
	r := &Recorder{unknown: unknown}
	if err := r.recordByDTrace(ctx, pid, library{}, chosen, o, ""); err != nil {
		return nil, err
	}
	return r.begin(), nil
}

// dtraceProviders returns DTrace's descriptions of all of HotSpot's probes in a process, such as
// "hotspot4711:::".
func dtraceProviders(pid int) (descriptions []string) {
	for _, p := range []string{usdt.Provider, usdt.JNIProvider, usdt.PrivateProvider} {
		descriptions = append(descriptions, p+strconv.Itoa(pid)+":::")
	}
	return descriptions
}
