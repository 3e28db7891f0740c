package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/report/schema"
)

// A trial tries features with one JDK.
type trial struct {
	gasm, classes, home, dir string
	options                  []string
	seconds, warmup          float64

	printed string          // what the profiled program has printed
	report  *schema.Profile // the profile of that program
	running *exec.Cmd       // the program that is attached to
	before  string          // the report that profile has recorded
}

// mostApart is how far a method's share of the samples may be from the share of time that the program has measured
// itself. The random error of sampling is allowed in addition. It is taken to be 2.6 standard deviations, because it is
// larger in only one of a hundred trials. leastResolved is the smallest allowed share of samples whose code is known.
const mostApart, leastResolved = 0.04, 0.995

// methods are the methods of the class Shares. The program itself measures which share of the time it spends in each of
// them.
var methods = []string{"heavy", "middle", "light"}

// command returns the command that starts the program. options are JVM options that only one feature needs.
func (t *trial) command(seconds float64, options ...string) []string {
	c := []string{filepath.Join(t.home, "bin/java"), "-XX:+UseSerialGC", "-Xmx128m"}
	for _, m := range methods {
		c = append(c, "-XX:CompileCommand=dontinline,Shares::"+m)
	}
	c = append(append(c, t.options...), options...)
	return append(c, "-cp", t.classes, fmt.Sprintf("-Dsec=%g", seconds), fmt.Sprintf("-Dwarmup=%g", t.warmup), "Features")
}

// run runs gasm, and returns what it has printed on stdout.
func (t *trial) run(args ...string) (string, error) {
	cmd := exec.Command(t.gasm, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("gasm %s: %w\n%s", args[0], err, errs.String())
	}
	return out.String(), nil
}

// readReport reads a JSON report with one profile.
func readReport(path string) (*schema.Profile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r schema.Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	if len(r.Profiles) != 1 {
		return nil, fmt.Errorf("%d profiles", len(r.Profiles))
	}
	return &r.Profiles[0], nil
}

// profile profiles the program with gasm, and compares the share of each method in the samples with the share that the
// program itself has measured.
func (t *trial) profile() (string, error) {
	report := filepath.Join(t.dir, "profile.json")
	args := []string{"profile", "-o", filepath.Join(t.dir, "profile"), "--window-start", "MEASURE", "--window-end", "DONE",
		"--events", "gc,safepoint",
		"--probe", "Features$Maker::make", "--frequency", "301", "--format", "json", "--report", report, "--"}
	printed, err := t.run(append(args, t.command(t.seconds)...)...)
	if err != nil {
		return "", err
	}
	if t.report, err = readReport(report); err != nil {
		return "", err
	}
	t.printed = printed
	a := t.report.Account.Values[0]
	text := fmt.Sprintf("%d samples, %d unresolved", a.Profiled, a.Unresolved)
	if float64(a.Unresolved) > (1-leastResolved)*float64(a.Profiled) {
		return "", errors.New(text)
	}
	counts, sum := map[string]int64{}, int64(0)
	for _, m := range t.report.Methods {
		counts[m.Name] += m.Counts.Values[0]
	}
	for _, m := range methods {
		sum += counts["Shares::"+m]
	}
	for _, m := range methods {
		got, want := float64(counts["Shares::"+m])/float64(max(sum, 1)), t.number("share "+m)
		text += fmt.Sprintf("; %s %.1f (%.1f)", m, 100*got, 100*want)
		if math.Abs(got-want) > mostApart+2.6*math.Sqrt(want*(1-want)/float64(max(sum, 1))) {
			err = errors.New("shares are not as measured")
		}
	}
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, text)
	}
	return text, nil
}

// number returns the number that the program has printed after a name, or -1.
func (t *trial) number(name string) float64 {
	_, rest, _ := strings.Cut(t.printed, name+" ")
	text, _, _ := strings.Cut(rest, "\n")
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n
	}
	return -1
}

// errNoProfile is the error of a trial that needs the profile of an earlier trial, which has failed.
var errNoProfile = errors.New("there is no profile")

// windows checks that gasm has measured from the line MEASURE to the line DONE of the program's output: the program
// works for t.seconds between these lines.
func (t *trial) windows() (string, error) {
	if t.report == nil {
		return "", errNoProfile
	}
	got := t.report.WindowSeconds
	text := fmt.Sprintf("%.1f s of %g", got, t.seconds)
	if got < t.seconds-0.1 || got > t.seconds+5 {
		return "", errors.New(text)
	}
	return text, nil
}

// notDecoded matches an instruction that has not been decoded.
var notDecoded = regexp.MustCompile(`^(\.inst|\.word|\.long|\(bad\))`)

// code checks the hot Java code in the report: it must have at least 50 instructions, all of them must be decoded, and
// at least half of them must have a source line.
func (t *trial) code() (string, error) {
	if t.report == nil {
		return "", errNoProfile
	}
	lines, placed := 0, 0
	for _, r := range t.report.Regions {
		if r.Native {
			continue
		}
		for _, l := range r.Lines {
			if l.Text == "" {
				continue
			}
			lines++
			if notDecoded.MatchString(l.Text) {
				return "", fmt.Errorf("%s: not decoded: %s", r.Method, l.Text)
			}
			if len(l.Frames) > 0 && l.Frames[0].Line > 0 {
				placed++
			}
		}
	}
	text := fmt.Sprintf("%d instructions, %d with a line", lines, placed)
	if lines < 50 || placed < lines/2 {
		return "", errors.New(text)
	}
	return text, nil
}

// scalable matches an instruction of AArch64 with a register of SVE.
var scalable = regexp.MustCompile(`\bz[0-9]+\.[bhsdq]`)

// vectorCode checks the code of a loop that C2 vectorizes. Where the processor has SVE, the code must use it.
func (t *trial) vectorCode() (string, error) {
	if t.report == nil {
		return "", errNoProfile
	}
	log := filepath.Join(t.dir, "log")
	if _, err := t.run("report", filepath.Join(t.dir, "profile"), "--method", "Features::add", "--save-log",
		log); err != nil {
		return "", err
	}
	code, err := os.ReadFile(log)
	if err != nil {
		return "", err
	}
	text := string(code)
	cpu, _ := os.ReadFile("/proc/cpuinfo")
	vectors := len(scalable.FindAllString(text, -1))
	measured := fmt.Sprintf("%d lines, %d of SVE", strings.Count(text, "\n"), vectors)
	if !strings.Contains(text, "Features::add") {
		return "", errors.New("the loop has no code in the report")
	}
	if runtime.GOARCH == "arm64" && regexp.MustCompile(`(?m)^Features.*\bsve\b`).Match(cpu) && vectors == 0 &&
		!strings.Contains(strings.Join(t.options, " "), "UseSVE=0") {
		return "", errors.New(measured)
	}
	return measured, nil
}

// logEvents checks that the report has garbage collections and safepoints, which come from HotSpot's log.
func (t *trial) logEvents() (string, error) {
	if t.report == nil {
		return "", errNoProfile
	}
	kinds := map[string]int{}
	for _, e := range t.report.Events {
		kinds[e.Kind] += e.Count
	}
	text := fmt.Sprintf("%d gc, %d safepoints", kinds["gc"], kinds["safepoint"])
	if kinds["gc"] == 0 || kinds["safepoint"] == 0 {
		return "", errors.New(text)
	}
	return text, nil
}

// probe checks that the probe has counted as many calls as the program has counted itself.
func (t *trial) probe() (string, error) {
	if t.report == nil {
		return "", errNoProfile
	}
	want := int64(t.number("calls"))
	for _, p := range t.report.Probes {
		if strings.Contains(p.Method, "make") {
			text := fmt.Sprintf("%d of %d calls", p.Entries, want)
			if p.Entries != want {
				return "", errors.New(text)
			}
			return text, nil
		}
	}
	return "", fmt.Errorf("no probe in the report; the program counted %d calls", want)
}

// page writes the report in several formats, and checks that the page and the text contain the methods.
func (t *trial) page() (string, error) {
	if t.report == nil {
		return "", errNoProfile
	}
	for _, format := range []string{"html", "text", "pprof", "collapsed"} {
		path := filepath.Join(t.dir, "report."+format)
		if _, err := t.run("report", filepath.Join(t.dir, "profile"), "--format", format, "--report", path); err != nil {
			if format == "collapsed" {
				continue // without call stacks
			}
			return "", err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		if (format == "html" || format == "text") && !bytes.Contains(text, []byte("Shares::heavy")) {
			return "", fmt.Errorf("%s: no Shares::heavy", format)
		}
	}
	return "", nil
}
