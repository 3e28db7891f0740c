// Package doctor finds out whether a profile can be made on this machine, and
// what to do where it can't.
//
// It looks at the machine, runs the samplers and the JDKs that are there in
// the way a profile would, and gives a [Report]: one [Finding] per fact, each
// with the command that mends it. It believes no setting where it can try:
// perf really samples a process, a JDK really prints its code, and a plug-in
// counts only with the symbol that HotSpot looks for.
//
// It prints nothing but through [WriteText] and [WriteJSON], and leaves no
// process and no file behind.
package doctor

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
)

// A Status says how good a fact is.
type Status string

const (
	// OK needs nothing.
	OK Status = "ok"
	// Note costs something, or could be better; a profile can be made.
	Note Status = "note"
	// Problem means that the thing does not work.
	Problem Status = "problem"
)

// A Finding is one fact about the machine. Its texts are plain ASCII but for what
// the machine itself says.
type Finding struct {
	Area   string `json:"area"` // "perf", "jdk /usr/lib/jvm/temurin-25"
	Name   string `json:"name"` // "events"
	Status Status `json:"status"`
	Text   string `json:"text"`
	Mend   string `json:"mend,omitempty"` // what to paste into a shell, or to do
}

// A Report is what Check found.
type Report struct {
	CanProfile bool
	// Sampler and Event are what a profile without flags takes; both are empty
	// where no sampler works.
	Sampler string // "perf", "dtrace"
	Event   string // "cpu-clock", "profile-1001"
	Sudo    bool   // dtrace works under --sudo only
	Cause   string // why no profile can be made; "" when it can
	Mend    string // what to do about the cause first
	Checks  []Finding
}

// Options say what the caller knows about its output.
type Options struct {
	Terminal bool // the report goes to one
	Columns  int  // of the terminal; 0 if unknown
	Color    bool // reports are coloured there
}

// Check runs all checks. The end of ctx stops them; the error then is its
// cause. It also is one to find no folder for temporary files anywhere. Other
// trouble is in the report.
func Check(ctx context.Context, opts Options) (*Report, error) {
	dir, temp, err := makeTemp()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)

	var (
		perf, dtrace samplerResult
		jdks         []jdkResult
		missing      []Finding // about JDKs that are named and not there
		wg           sync.WaitGroup
	)
	wg.Go(func() { perf = checkPerf(ctx, dir) })
	wg.Go(func() { dtrace = checkDTrace(ctx, dir) })
	wg.Go(func() {
		found, notes := findJDKs(ctx)
		missing, jdks = notes, checkJDKs(ctx, found, dir)
	})
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("stopped: %w", err)
	}

	r := &Report{Checks: checkSystem(ctx)}
	if runtime.GOOS == "linux" {
		r.Checks = append(r.Checks, perf.checks...)
	}
	for _, f := range dtrace.checks {
		if perf.works && !dtrace.works && f.Status != OK {
			f.Status, f.Text = Note, f.Text+"; not needed, perf works"
		}
		r.Checks = append(r.Checks, f)
	}
	r.Checks = append(r.Checks, missing...)
	for _, j := range jdks {
		r.Checks = append(r.Checks, j.checks...)
	}
	r.Checks = append(r.Checks, checkCodeCache(ctx, jdks)...)
	options := checkJavaOptions()
	if options.Status == OK {
		options = tryJavaOptions(ctx, jdks, options)
	}
	r.Checks = append(r.Checks, options, checkLocale(), checkTerminal(opts), temp)
	r.judge(perf, dtrace, jdks, options, temp)
	return r, nil
}

// judge says whether a profile can be made: it takes a sampler, a JVM that
// writes what gasm reads, and a folder.
func (r *Report) judge(perf, dtrace samplerResult, jdks []jdkResult, options, temp Finding) {
	best := dtrace
	switch {
	case perf.works:
		best, r.Sampler = perf, "perf"
	case dtrace.works:
		r.Sampler = "dtrace"
	case runtime.GOOS == "linux":
		best = perf // the one to mend
	}
	r.Event, r.Sudo = best.event, best.sudo
	jdk := false
	for _, j := range jdks {
		jdk = jdk || j.works
	}
	switch {
	case r.Sampler == "":
		r.Cause, r.Mend = best.cause, best.mend
	case options.Status == Problem:
		r.Cause, r.Mend = options.Text, options.Mend
	case len(jdks) == 0:
		r.Cause, r.Mend = "there is no JDK", installJDK(osRelease())
	case !jdk:
		r.Cause, r.Mend = "no JDK here prints its code", installJDK(osRelease())
	case temp.Status == Problem:
		r.Cause, r.Mend = temp.Text, temp.Mend
	default:
		r.CanProfile = true
	}
}

// A samplerResult is what is known about perf or dtrace.
type samplerResult struct {
	checks  []Finding
	works   bool
	missing bool   // not on PATH
	event   string // that is sampled
	sudo    bool
	cause   string // why it does not work
	mend    string
}
