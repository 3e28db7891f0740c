// Package doctor finds out whether a profile can be made on this machine, and what to do
// where it can't.
//
// It looks at the machine, runs the samplers and the JDKs that are there in the way in
// which `gasm profile` would, and gives a [Report] with one [Finding] for each fact. A
// finding has the command that mends what is wrong. Where something can be tried, no
// setting is believed: gasm and perf sample a process, each JDK prints its code, and a hsdis
// plug-in counts only if it has the function that HotSpot looks for.
//
// The package prints only through [WriteText] and [WriteJSON]. [Check] leaves no process
// and no file behind.
package doctor

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
)

// A Status says how good a fact is.
type Status string

const (
	// OK is for facts that need nothing.
	OK Status = "ok"
	// Note is for facts that cost something or could be better. A profile can be made.
	Note Status = "note"
	// Problem is for things that do not work.
	Problem Status = "problem"
)

// A Finding is one fact about the machine. Its texts are in ASCII, except for what they
// quote from the machine.
type Finding struct {
	Area   string `json:"area"` // "native", "jdk /usr/lib/jvm/temurin-25"
	Name   string `json:"name"` // "events"
	Status Status `json:"status"`
	Text   string `json:"text"`
	Mend   string `json:"mend,omitempty"` // what to paste into a shell, or else to do
}

// A Report is what Check found.
type Report struct {
	CanProfile bool
	// Sampler and Event are what `gasm profile` takes without flags. Both are "" where
	// no sampler works.
	Sampler string // "native", "perf", "dtrace", "xctrace"
	Event   string // "cpu-clock", "profile-1001"
	Sudo    bool   // dtrace works under --sudo only
	Cause   string // why no profile can be made; "" when one can be made
	Mend    string // what to do first about the cause
	Checks  []Finding
}

// Options say what the caller knows about its output.
type Options struct {
	Terminal bool // the report goes to a terminal
	Columns  int  // of the terminal; 0 if unknown
	Color    bool // the report is coloured
}

// Check runs all checks. The end of ctx stops them, and the error is then the cause of
// that. The only other error is that no folder for temporary files can be written. All
// other trouble is in the report.
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

// triedTools are the samplers and the JDKs after they were tried.
type triedTools struct {
	native, perf, dtrace samplerResult
	xctrace              samplerResult // on macOS
	missingJDKs          []Finding     // about JDKs that the environment names and that are not there
	jdks                 []jdkResult
}

// tryTools tries all samplers and JDKs at the same time.
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

// findings are the findings about all tools, in the report's order.
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

// judge says whether a profile can be made: that takes a sampler, a JVM that writes what
// gasm reads, and a folder for the capture.
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
		best = tried.native // of samplers that don't work, this is the one to mend
	}
	r.Event, r.Sudo = best.event, best.sudo
	works := func(j jdkResult) bool { return j.works }
	switch {
	case r.Sampler == "":
		r.Cause, r.Mend = best.cause, best.mend
	case options.Status == Problem:
		r.Cause, r.Mend = options.Text, options.Mend
	case len(jdks) == 0:
		r.Cause, r.Mend = "there is no JDK", installJDK(osRelease())
	case !slices.ContainsFunc(jdks, works):
		r.Cause, r.Mend = "no JDK here prints its code", installJDK(osRelease())
	case temp.Status == Problem:
		r.Cause, r.Mend = temp.Text, temp.Mend
	default:
		r.CanProfile = true
	}
}

// notNeeded gives the findings about a sampler. If another one works, trouble with this
// one is no problem.
func (s *samplerResult) notNeeded(other bool, text string) []Finding {
	checks := slices.Clone(s.checks)
	for i := range checks {
		if c := &checks[i]; other && !s.works && c.Status != OK {
			c.Status, c.Text = Note, c.Text+"; not needed, "+text
		}
	}
	return checks
}

// A samplerResult is what is known about a sampler.
type samplerResult struct {
	checks []Finding
	works  bool
	event  string // the event that it samples
	sudo   bool   // it works under --sudo only
	cause  string // why it does not work
	mend   string
}
