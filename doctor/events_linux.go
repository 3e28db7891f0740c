package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/event/hslog"
	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/hotspot/jcmd"
	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/internal/foreign"
)

// checkEvents asks a running JVM of this JDK which events it can report, and from which source. It does not check USDT
// probes, which have a finding of their own (checkProbes).
func (j *foundJDK) checkEvents(ctx context.Context, area string, pid int) Finding {
	c := Finding{area, "events", OK, "", ""}
	log := "from HotSpot's log: gc, safepoint"
	if 0 < j.feature() && j.feature() < hslog.OldestRelease {
		log = "not from HotSpot's log, which has the times of events from JDK 9 on"
	}
	switch recorder, err := hasRecorder(ctx, pid); {
	case err != nil:
		c.Status = Note
		c.Text, c.Fix = fix.Parts(fmt.Errorf("%s; whether it has Flight Recorder could not be found out: %w", log, err))
	case recorder:
		c.Text =
			log + "; from Flight Recorder: compile, inlining, lock, alloc, park, sleep, class, thread, and the program's own"
	default:
		c.Status, c.Text = Note, log+"; it has no Flight Recorder (the module jdk.jfr)"
	}
	return c
}

// hasRecorder reports whether a JVM that has just started has Flight Recorder. It sends the JVM the command JFR.check.
func hasRecorder(ctx context.Context, pid int) (bool, error) {
	p, err := foreign.Open(pid)
	if err != nil {
		return false, err
	}
	defer p.Close()
	for { // until the JVM runs its program
		if started, known := attach.Started(ctx, p); started || !known {
			break
		}
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
	text, err := jcmd.Run(ctx, p, "JFR.check")
	if refused := (*jcmd.FailedError)(nil); errors.As(err, &refused) {
		return false, nil
	}
	// Without the module jdk.jfr, the JVM's answer is "Command JFR.check not found."
	return err == nil && !strings.Contains(text, "not found"), err
}
