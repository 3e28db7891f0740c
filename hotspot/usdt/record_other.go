//go:build !linux

package usdt

import (
	"context"
	"fmt"
	"strconv"

	"github.com/gasm-profiler/gasm/event/usdt"
	"github.com/gasm-profiler/gasm/sampler/collect/dtrace"
)

// Allowed returns nil if this process may record probes. Otherwise the error says why not. It tries
// to start DTrace, which is the only way to record probes on this system. DTrace is killed when ctx
// is done.
func Allowed(ctx context.Context, _ string) (note string, err error) {
	return allowedByDTrace(ctx, "")
}

// Start begins to record probes of a JVM. It writes the text to o.Text. The JVM's probes are those
// that DTrace lists. The addresses of the library's code are not known here, so for allocations the
// allocating code is not recorded. The recording goes on until [Recorder.Stop]. It also ends when
// ctx is done, because DTrace is then killed.
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
		return nil, fmt.Errorf("the JVM has none of the USDT probes %v: `dtrace -l -n 'hotspot%s:::'` lists them", unknown,
			strconv.Itoa(pid))
	}
	r := &Recorder{unknown: unknown}
	if err := r.recordByDTrace(ctx, pid, library{}, chosen, o, ""); err != nil {
		return nil, err
	}
	return r.begin(), nil
}

// dtraceProviders returns descriptions that match all of HotSpot's probes in a process, in DTrace's
// form: "hotspot4711:::".
func dtraceProviders(pid int) (descriptions []string) {
	for _, p := range []string{usdt.Provider, usdt.JNIProvider, usdt.PrivateProvider} {
		descriptions = append(descriptions, p+strconv.Itoa(pid)+":::")
	}
	return descriptions
}
