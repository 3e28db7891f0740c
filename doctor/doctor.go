// Package doctor finds out whether a profile can be made on this machine, and what to do
// if it can't.
//
// It looks at the machine, runs the installed samplers and JDKs in the same way as `gasm profile`, and returns a
// [Report] with one [Finding] for each fact. If something is wrong, the finding also has the command that fixes it, if
// there is one. Check tries whatever can be tried, because settings can mislead: gasm and perf sample a process, each
// JDK prints its code, and a hsdis plug-in counts only if it has the function that HotSpot looks for.
//
// Only [WriteText] and [WriteJSON] print anything. [Check] leaves no process and no file behind.
package doctor

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
)

// A Status is the verdict of a [Finding]: all is well, something could be better, or something does not work.
type Status string

const (
	// OK is the status of a fact that needs no action.
	OK Status = "ok"
	// Note is the status of something that could be better, but does not keep gasm from making a
	// profile.
	Note Status = "note"
	// Problem is the status of something that does not work.
	Problem Status = "problem"
)

// A Finding is one fact about the machine. Its texts are ASCII, apart from what they quote from the machine.
type Finding struct {
	Area   string `json:"area"` // "native", "jdk /usr/lib/jvm/temurin-25"
	Name   string `json:"name"` // "events"
	Status Status `json:"status"`
	Text   string `json:"text"`
	Fix    string `json:"mend,omitempty"` // a command to paste into a shell, or else advice; "" if nothing is wrong
}

// A Report is what Check found.
type Report struct {
	CanProfile bool
	// Sampler and Event are what `gasm profile` uses by default. Both are "" if no sampler works.
	Sampler string // "native", "perf", "dtrace", "xctrace"
	Event   string // "cpu-clock", "profile-1001"
	Sudo    bool   // dtrace works only with --sudo
	Cause   string // why no profile can be made; "" if one can be made
	Fix     string // what to do first; "" if a profile can be made or no fix is known
	Checks  []Finding
}

// Options describe the place to which the caller will write the report.
type Options struct {
	Terminal bool // the report goes to a terminal
	Columns  int  // width of the terminal; 0 if unknown
	Color    bool // the report is coloured
}

// Check runs all checks. If ctx ends, the checks stop, and the error is ctx's cause. Check also fails if it can't
// create a folder for temporary files. All other problems are in the report.
func Check(ctx context.Context, opts Options) (*Report, error) {
	dir, temp, err := makeTemp()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	tried := tryTools(ctx, dir)
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("stopped: %w", err)
	}
	options := checkJavaOptions()
	if options.Status == OK {
		options = tryJavaOptions(ctx, tried.jdks, options)
	}
	r := &Report{Checks: slices.Concat(
		checkSystem(ctx), tried.findings(), checkCodeCache(ctx, tried.jdks),
		[]Finding{options, checkLocale(), checkTerminal(opts), temp}, leftFolders(ctx))}
	r.judge(tried, options, temp)
	return r, nil
}

// triedTools has the results of trying the samplers and the JDKs.
type triedTools struct {
	native, perf, dtrace samplerResult
	xctrace              samplerResult // tried on macOS only
	missingJDKs          []Finding     // about JDKs that environment variables name, but that do not exist
	jdks                 []jdkResult
}

// tryTools tries the samplers and the JDKs, several at the same time.
func tryTools(ctx context.Context, dir string) triedTools {
	var t triedTools
	var wg sync.WaitGroup
	wg.Go(func() {
		t.native = checkNative(ctx, dir)
		t.perf = checkPerf(ctx, dir)
	})
	wg.Go(func() { t.dtrace = checkDTrace(ctx, dir) })
	if runtime.GOOS == "darwin" {
		wg.Go(func() { t.xctrace = checkXCTrace(ctx) })
	}
	wg.Go(func() {
		var found []*foundJDK
		found, t.missingJDKs = findJDKs(ctx)
		t.jdks = checkJDKs(ctx, found, dir)
	})
	wg.Wait()
	return t
}

// findings returns the findings about all tools, in the report's order.
func (t *triedTools) findings() []Finding {
	var all []Finding
	if runtime.GOOS == "linux" {
		all = append(all, t.native.checks...)
		all = append(all, t.perf.notNeeded(t.native.works, "gasm samples without it")...)
	}
	all = append(all, t.dtrace.notNeeded(t.native.works || t.perf.works || t.xctrace.works, "gasm samples without it")...)
	all = append(all, t.xctrace.notNeeded(t.dtrace.works, "dtrace samples")...)
	all = append(all, t.missingJDKs...)
	for _, j := range t.jdks {
		all = append(all, j.checks...)
	}
	return all
}

// judge decides whether a profile can be made. A profile needs a sampler, a JVM whose code gasm can read, and a folder
// for the capture.
func (r *Report) judge(tried triedTools, options, temp Finding) {
	best, jdks := tried.dtrace, tried.jdks
	switch {
	case tried.native.works:
		best, r.Sampler = tried.native, "native"
	case tried.perf.works:
		best, r.Sampler = tried.perf, "perf"
	case tried.dtrace.works:
		r.Sampler = "dtrace"
	case tried.xctrace.works:
		best, r.Sampler = tried.xctrace, "xctrace"
	case runtime.GOOS == "linux":
		best = tried.native // of the samplers that don't work, this is the one to fix
	}
	r.Event, r.Sudo = best.event, best.sudo
	works := func(j jdkResult) bool { return j.works }
	switch {
	case r.Sampler == "":
		r.Cause, r.Fix = best.cause, best.fix
	case options.Status == Problem:
		r.Cause, r.Fix = options.Text, options.Fix
	case len(jdks) == 0:
		r.Cause, r.Fix = "there is no JDK", installJDK(osRelease())
	case !slices.ContainsFunc(jdks, works):
		r.Cause, r.Fix = "no JDK here prints its code", installJDK(osRelease())
	case temp.Status == Problem:
		r.Cause, r.Fix = temp.Text, temp.Fix
	default:
		r.CanProfile = true
	}
}

// notNeeded returns the findings about a sampler. The parameter other is true if another sampler works. If so, and if
// this sampler does not work, its problems become notes. Each note ends with a text that says why the sampler is not
// needed, for example "gasm samples without it".
func (s *samplerResult) notNeeded(other bool, text string) []Finding {
	checks := slices.Clone(s.checks)
	for i := range checks {
		if c := &checks[i]; other && !s.works && c.Status != OK {
			c.Status, c.Text = Note, c.Text+"; not needed, "+text
		}
	}
	return checks
}

// A samplerResult is the result of trying a sampler.
type samplerResult struct {
	checks []Finding
	works  bool
	event  string // the event that it samples
	sudo   bool   // it works only with --sudo
	cause  string // why it does not work
	fix    string // what to do about the cause
}
