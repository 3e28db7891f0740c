package doctor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/gasm-profiler/gasm/nmethod"
	"github.com/gasm-profiler/gasm/printassembly"
)

// A jdkResult is what is known about one JDK.
type jdkResult struct {
	*jdk
	checks []Finding
	works  bool // its code, or at least its methods' names, can be had
}

// checkJDKs runs each JDK, as many at a time as there are processors.
func checkJDKs(ctx context.Context, jdks []*jdk, dir string) []jdkResult {
	results := make([]jdkResult, len(jdks))
	slots := make(chan struct{}, runtime.NumCPU())
	var wg sync.WaitGroup
	for i, j := range jdks {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			results[i] = j.check(ctx, filepath.Join(dir, fmt.Sprintf("jdk-%d.log", i)))
		})
	}
	wg.Wait()
	return results
}

func (j *jdk) check(ctx context.Context, log string) jdkResult {
	j.describe(ctx)
	area := "jdk " + j.home
	text := cmp.Or(j.version, "unknown version") + ", " + cmp.Or(j.vendor, "unknown vendor")
	if len(j.found) > 0 {
		text += " (" + strings.Join(j.found, ", ") + ")"
	}
	r := jdkResult{jdk: j, checks: []Finding{{area, "version", OK, text, ""}}}
	if !j.hotspot() {
		r.checks = append(r.checks, Finding{area, "code", Note,
			j.variant + " is not HotSpot: its methods have neither names nor code in a profile", installJDK(osRelease())})
		return r
	}
	printed, err := j.printCode(ctx, log)
	plugin, hasPlugin := j.findPlugin()
	c := Finding{Area: area, Name: "code"}
	switch {
	case err != nil:
		c.Status, c.Text = Problem, err.Error()
	case printed == codeText:
		c.Status, c.Text = OK, "printed as text by hsdis"
	case printed == codeBytes:
		c.Status, c.Text = OK, fmt.Sprintf("printed as bytes, which gasm decodes: no hsdis needed from JDK %d on", printassembly.OldestWithBytes)
	case j.feature() < printassembly.OldestWithBytes && nmethod.Copyable(j.feature()) == nil:
		c.Status, c.Text = OK, "not printed without hsdis, but copied out of the JVM's memory (behind a build tool names only)"
	case j.feature() < printassembly.OldestWithBytes:
		c.Status, c.Mend = Note, j.installPlugin()
		c.Text = fmt.Sprintf("names only, no instructions: JDK 8 to %d need hsdis for these", printassembly.OldestWithBytes-1)
	default:
		c.Status, c.Text = Problem, "the JVM's log has no code in it"
	}
	r.works = c.Status != Problem
	r.checks = append(r.checks, c)
	if r.works {
		r.checks = append(r.checks, checkCopy(area, j.feature()))
	}
	if hasPlugin {
		r.checks = append(r.checks, j.checkPlugin(area, plugin, printed))
	}
	return r.withProbes(area)
}

// checkCopy tells whether C1's code is copied, by which a program's warm-up loses
// the least.
func checkCopy(area string, feature int) Finding {
	if err := nmethod.Copyable(feature); err != nil {
		c := Finding{area, "copy", Note, "C1's code is printed, which slows the warm-up more than copying it: " + err.Error(), ""}
		if strings.Contains(err.Error(), "ptrace_scope") {
			c.Mend = "sudo sysctl kernel.yama.ptrace_scope=1"
		}
		return c
	}
	return Finding{area, "copy", OK, "gasm profile -- java copies C1's code out of the JVM's memory", ""}
}

// withProbes adds the line about HotSpot's static probes.
func (r jdkResult) withProbes(area string) jdkResult {
	if r.libjvm == "" {
		return r
	}
	text := "no USDT probes in " + filepath.Base(r.libjvm)
	if hasProbes(r.libjvm) {
		text = filepath.Base(r.libjvm) + " has HotSpot's USDT probes"
	}
	r.checks = append(r.checks, Finding{area, "probes", OK, text + " (gasm needs none)", ""})
	return r
}

// checkPlugin judges a plug-in that is where HotSpot looks, by what the JVM
// really printed.
func (j *jdk) checkPlugin(area string, p plugin, printed code) Finding {
	c := Finding{area, "hsdis", OK, p.path, ""}
	needed := j.feature() < printassembly.OldestWithBytes
	switch {
	case printed == codeText && p.usable:
		c.Text += " has " + pluginSymbol + " and is used"
	case printed == codeText:
		c.Text += " is used"
	case !p.usable:
		c.Status, c.Text = Note, c.Text+" lacks "+pluginSymbol+": HotSpot does not use it"
		if needed {
			c.Mend = j.installPlugin()
		}
	default:
		c.Status, c.Text, c.Mend = Note, c.Text+" has "+pluginSymbol+" but was not loaded: does it lack a library?", "ldd "+p.path
	}
	if c.Status == Note && !needed {
		c.Text += "; not needed"
	}
	return c
}

// installPlugin fetches a plug-in that the JDKs without [MachCode] can load.
func (j *jdk) installPlugin() string {
	dir := filepath.Join(j.home, "lib/server")
	if j.libjvm != "" {
		dir = filepath.Dir(j.libjvm)
	}
	name := j.pluginName()
	site := "https://builds.shipilev.net/hsdis/"
	if runtime.GOOS == "darwin" {
		site = "https://chriswhocodes.com/hsdis/"
	}
	return fmt.Sprintf("sudo curl -fLo %s %s", filepath.Join(dir, name), site+name)
}

// code is the form in which a JVM prints its code.
type code int

const (
	codeNone  code = iota
	codeBytes      // hexadecimal, by HotSpot itself
	codeText       // instructions, by a plug-in
)

// printCode runs the JVM the way a profile does and looks at its log.
func (j *jdk) printCode(ctx context.Context, log string) (code, error) {
	if options := checkJavaOptions(); options.Status == Problem {
		return codeNone, errors.New("not tried: " + options.Text) // it might write over a log of the user's
	}
	known := printassembly.OldestKnown <= j.feature() && j.feature() <= printassembly.NewestKnown
	options := strings.TrimSpace(os.Getenv("JAVA_TOOL_OPTIONS") + " " + toolOptions(printassembly.CaptureFlags(log, !known, printassembly.Selection{})))
	_, stderr, err := run(ctx, []string{"JAVA_TOOL_OPTIONS=" + options}, j.java(), "-version")
	defer os.Remove(log)
	if err != nil {
		return codeNone, fmt.Errorf("java does not run: %s", cmp.Or(complaint(stderr), err.Error()))
	}
	f, err := os.Open(log)
	if err != nil {
		return codeNone, fmt.Errorf("the JVM wrote no log (a -XX:LogFile elsewhere, or no HotSpot?)")
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 64<<20)) // a whole one has about 1 MiB
	if err != nil {
		return codeNone, fmt.Errorf("reading the JVM's log: %w", err)
	}
	return printedAs(text), nil
}

// toolOptions writes options for JAVA_TOOL_OPTIONS, in which blanks separate.
func toolOptions(options []string) string {
	quoted := make([]string, len(options))
	for i, o := range options {
		quoted[i] = o
		if strings.ContainsAny(o, " \t'") {
			quoted[i] = `"` + o + `"`
		}
	}
	return strings.Join(quoted, " ")
}

// An instruction as hsdis prints it: an address and a word, not hex digits
// alone.
var instructionLine = regexp.MustCompile(`(?m)^ +0x[0-9a-f]+:\s+[a-z]*[g-z][a-z0-9]*\b`)

// printedAs tells what form of code is in a JVM's log. JDK 8 marks nothing.
func printedAs(log []byte) code {
	switch {
	case bytes.Contains(log, []byte("[Disassembly]")), instructionLine.Match(log):
		return codeText
	case bytes.Contains(log, []byte("[MachCode]")):
		return codeBytes
	}
	return codeNone
}

// complaint is the line of a JVM's stderr that says what is wrong.
func complaint(stderr string) string {
	for line := range strings.Lines(stderr) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "Picked up ") {
			return line
		}
	}
	return ""
}

// small is a code cache that a tiered JVM fills; its default is 240 MB.
const small = 48 << 20

// checkCodeCache asks the JVM that is taken without a choice, the first.
func checkCodeCache(ctx context.Context, jdks []jdkResult) []Finding {
	if len(jdks) == 0 || !jdks[0].works {
		return nil
	}
	c := Finding{Area: "code cache", Name: "size", Status: OK}
	stdout, stderr, err := run(ctx, nil, jdks[0].java(), "-XX:+PrintFlagsFinal", "-version")
	if err != nil {
		c.Status, c.Text = Note, "java -XX:+PrintFlagsFinal fails: "+cmp.Or(complaint(stderr), err.Error())
		return []Finding{c}
	}
	judgeCodeCache(&c, parseFlags(stdout))
	return []Finding{c}
}

func judgeCodeCache(c *Finding, flags map[string]string) {
	reserved, err := strconv.ParseUint(flags["ReservedCodeCacheSize"], 10, 64)
	if err != nil {
		c.Text = "unknown"
		return
	}
	c.Text = size(reserved) + map[string]string{"true": ", segmented", "false": ", not segmented"}[flags["SegmentedCodeCache"]]
	if reserved < small && flags["TieredCompilation"] != "false" {
		c.Status, c.Mend = Note, "java -XX:ReservedCodeCacheSize=240m ..."
		c.Text += ": small; HotSpot will reuse addresses (gasm tells their owners apart by time)"
	}
}

var flagLine = regexp.MustCompile(`(?m)^\s*\w+\s+(\w+)\s*:?=\s*(\S+)`)

// parseFlags reads what -XX:+PrintFlagsFinal prints.
func parseFlags(text string) map[string]string {
	flags := map[string]string{}
	for _, m := range flagLine.FindAllStringSubmatch(text, -1) {
		flags[m[1]] = m[2]
	}
	return flags
}
