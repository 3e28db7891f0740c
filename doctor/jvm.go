package doctor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/gasm-profiler/gasm/hotspot/nmethod"
	"github.com/gasm-profiler/gasm/hotspot/usdt"
	"github.com/gasm-profiler/gasm/internal/fix"
	"github.com/gasm-profiler/gasm/internal/jdk"
	"github.com/gasm-profiler/gasm/printassembly"
)

// A jdkResult is the result of checking one JDK.
type jdkResult struct {
	*foundJDK
	checks []Finding
	works  bool // a profile shows its code, or at least the names of its methods
}

// checkJDKs checks the JDKs in parallel, but at most as many at a time as there are CPUs.
func checkJDKs(ctx context.Context, jdks []*foundJDK, dir string) []jdkResult {
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

// check runs one JDK and returns the findings about it. log is the path of a file into which the JVM can write its log.
func (j *foundJDK) check(ctx context.Context, log string) jdkResult {
	said, failed := j.start(ctx)
	if failed != nil {
		said = "" // printCode runs java again and reports the error
	}
	j.describe(said)
	area := "jdk " + j.home
	text := cmp.Or(j.version, "unknown version") + ", " + cmp.Or(j.vendor, "unknown vendor")
	if len(j.foundBy) > 0 {
		text += " (" + strings.Join(j.foundBy, ", ") + ")"
	}
	r := jdkResult{foundJDK: j, checks: []Finding{{area, "version", OK, text, ""}}}
	if !j.hotspot() {
		r.checks = append(r.checks, Finding{area, "code", Note,
			j.variant + " is not HotSpot: its methods have neither names nor code in a profile", installJDK(osRelease())})
		return r
	}
	if late := (noAnswerError{}); errors.As(failed, &late) {
		// no other check of this JDK would get an answer
		r.checks = append(r.checks, j.judgeCode(area, codeNone, notRunning("", failed), false))
		return r
	}
	printed, err := j.printCode(ctx, log)
	attached, events := j.checkAttach(ctx, area, filepath.Dir(log))
	c := j.judgeCode(area, printed, err, attached.Status == OK && nmethod.Known(j.feature()))
	r.works = c.Status != Problem
	r.checks = append(r.checks, c)
	if r.works {
		r.checks = append(r.checks, attached, events, j.checkStacks(ctx, area, filepath.Dir(log)),
			j.checkWall(ctx, area, filepath.Dir(log)))
	}
	if p, ok := j.findPlugin(); ok {
		r.checks = append(r.checks, j.checkPlugin(area, p, printed))
	}
	if j.libjvm != "" {
		r.checks = append(r.checks, j.checkProbes(ctx, area))
	}
	return r
}

// judgeCode decides how a profile gets the code of this JDK. printed and err are the results of printCode. The
// parameter copied is true if gasm can copy the code from the memory of a JVM of this JDK.
func (j *foundJDK) judgeCode(area string, printed codeForm, err error, copied bool) Finding {
	c := Finding{Area: area, Name: "code"}
	switch {
	case err != nil:
		c.Status, c.Text = Problem, err.Error()
	case printed == codeText:
		c.Status, c.Text = OK, "with --code print, HotSpot prints text with hsdis"
	case printed == codeBytes:
		c.Status, c.Text =
			OK, fmt.Sprintf("with --code print, HotSpot prints bytes, which gasm decodes: no hsdis needed from JDK %d on",
				printassembly.OldestWithBytes)
	case !j.printsBytes() && copied:
		c.Status, c.Text = OK, "not printed without hsdis, but copied out of the JVM's memory"
	case !j.printsBytes():
		c.Status, c.Fix = Note, j.installPlugin()
		c.Text = fmt.Sprintf("names only, no lines: JDK 8 to %d need hsdis for these", printassembly.OldestWithBytes-1)
	default:
		c.Status, c.Text = Problem, "the JVM's log has no code in it"
	}
	return c
}

// printsBytes reports whether this JDK prints code without hsdis.
func (j *foundJDK) printsBytes() bool { return j.feature() >= printassembly.OldestWithBytes }

// checkProbes finds out whether gasm can record the static probes (USDT) in this JDK's libjvm. It does not start a JVM:
// it sets the probes for this process, which never executes them.
func (j *foundJDK) checkProbes(ctx context.Context, area string) Finding {
	name := filepath.Base(j.libjvm)
	if !hasProbes(j.libjvm) {
		return Finding{area, "probes", OK, "no USDT probes in " + name + ": no events of the kinds jni and usdt:...", ""}
	}
	c := Finding{area, "probes", OK,
		name + " has HotSpot's USDT probes, and gasm records them with a BPF program: --events-from usdt", ""}
	note, err := usdt.Allowed(ctx, j.libjvm)
	if note != "" {
		c.Text = name + " has HotSpot's USDT probes: --events-from usdt; " + note
	}
	if refused := (*usdt.RefusedError)(nil); errors.As(err, &refused) {
		c.Status = Note
		c.Text, c.Fix = fix.Parts(fmt.Errorf("%s has HotSpot's USDT probes, and gasm can't record them: %w", name, refused))
	} else if err != nil {
		c.Text = name + " has HotSpot's USDT probes (not recorded: " + err.Error() + ")"
	}
	return c
}

// checkPlugin finds out whether HotSpot uses the disassembler plug-in p. printed is the form of the code that the JVM
// printed: only a plug-in prints text.
func (j *foundJDK) checkPlugin(area string, p plugin, printed codeForm) Finding {
	c := Finding{area, "hsdis", OK, p.path, ""}
	switch {
	case printed == codeText && p.usable:
		c.Text += " has " + pluginSymbol + " and is used"
	case printed == codeText:
		c.Text += " is used"
	case !p.usable:
		c.Status, c.Text = Note, c.Text+" lacks "+pluginSymbol+": HotSpot does not use it"
		if !j.printsBytes() {
			c.Fix = j.installPlugin()
		}
	default:
		c.Status, c.Text, c.Fix =
			Note, c.Text+" has "+pluginSymbol+" but was not loaded: does it lack a library?", "ldd "+p.path
	}
	if c.Status == Note && j.printsBytes() {
		c.Text += "; not needed"
	}
	return c
}

// installPlugin returns the command that installs a disassembler plug-in, for JDKs that print no code without one.
func (j *foundJDK) installPlugin() string {
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

// A codeForm is the form in which a JVM printed its code.
type codeForm int

const (
	codeNone  codeForm = iota
	codeBytes          // hexadecimal, by HotSpot itself
	codeText           // instructions, by a plug-in
)

// printCode runs the JVM with the options that `gasm profile --code print` sets, and returns the form of the code in
// the JVM's log.
func (j *foundJDK) printCode(ctx context.Context, log string) (codeForm, error) {
	if options := checkJavaOptions(); options.Status == Problem {
		return codeNone, errors.New("not tried: " + options.Text) // the JVM might overwrite a log file of the user's
	}
	flags := printassembly.CaptureFlags(log, printassembly.Selection{})
	if printassembly.OldestKnown <= j.feature() && j.feature() <= printassembly.NewestKnown {
		flags = append(flags, printassembly.RefuseUnknownFlags) // gasm profile does the same if its command is java
	}
	_, stderr, err := runWithin(ctx, j.limit(), jdk.AddToolOptions(os.Environ(), flags), j.java(), "-version")
	defer os.Remove(log)
	if err != nil {
		return codeNone, notRunning(stderr, err)
	}
	f, err := os.Open(log)
	if err != nil {
		return codeNone, fmt.Errorf("the JVM wrote no log (is there another -XX:LogFile, or is it not HotSpot?)")
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 64<<20)) // the log of java -version has about 1 MiB
	if err != nil {
		return codeNone, fmt.Errorf("reading the JVM's log: %w", err)
	}
	return printedForm(text), nil
}

// instructionLine matches an instruction as hsdis prints it, which is an address and a mnemonic:
//
//	0x00007fae1ea188f8: mov    %eax,-0x14000(%rsp)
//
// The mnemonic must have a letter from g to z. Otherwise a row of hexadecimal bytes, which HotSpot also prints, would
// match: "0x00007fae1ea188f8: 89 84 24".
var instructionLine = regexp.MustCompile(`(?m)^ +0x[0-9a-f]+:\s+[a-z]*[g-z][a-z0-9]*\b`)

// printedForm returns the form of the code in a JVM's log. JDK 8 does not write the headings [Disassembly] and
// [MachCode], so printedForm also looks for a line with an instruction, which means that the code is text.
func printedForm(log []byte) codeForm {
	switch {
	case bytes.Contains(log, []byte("[Disassembly]")), instructionLine.Match(log):
		return codeText
	case bytes.Contains(log, []byte("[MachCode]")):
		return codeBytes
	}
	return codeNone
}

// notRunning returns the error for a JVM that has failed with err.
func notRunning(stderr string, err error) error {
	return errors.New("java does not run: " + jvmComplaint(stderr, err))
}

// jvmComplaint returns the reason why a JVM has failed with err. Usually that is a line of its stderr. If the JVM was
// killed, because it gave no answer or because the user stopped the doctor, the reason is err, and stderr does not
// matter.
func jvmComplaint(stderr string, err error) string {
	if ended := (*exec.ExitError)(nil); !errors.As(err, &ended) {
		return err.Error()
	}
	for line := range strings.Lines(stderr) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "Picked up ") {
			return line
		}
	}
	return err.Error()
}

// smallCodeCache is the size in bytes below which the doctor warns that a program may fill the code cache, if both
// compilers are used. HotSpot's default for both compilers is 240 MB.
const smallCodeCache = 48 << 20

// checkCodeCache asks the JVM of the first JDK for the size of its code cache. If there is a JDK on PATH, it is the
// first.
func checkCodeCache(ctx context.Context, jdks []jdkResult) []Finding {
	if len(jdks) == 0 || !jdks[0].works {
		return nil
	}
	c := Finding{Area: "code cache", Name: "size", Status: OK}
	stdout, stderr, err := runWithin(ctx, jdks[0].limit(), os.Environ(), jdks[0].java(), "-XX:+PrintFlagsFinal",
		"-version")
	if err != nil {
		c.Status, c.Text = Note, "java -XX:+PrintFlagsFinal fails: "+jvmComplaint(stderr, err)
		return []Finding{c}
	}
	return []Finding{judgeCodeCache(c, parseFlags(stdout))}
}

func judgeCodeCache(c Finding, flags map[string]string) Finding {
	reserved, err := strconv.ParseUint(flags["ReservedCodeCacheSize"], 10, 64)
	if err != nil {
		c.Text = "unknown"
		return c
	}
	c.Text = sizeText(reserved)
	switch flags["SegmentedCodeCache"] {
	case "true":
		c.Text += ", segmented"
	case "false":
		c.Text += ", not segmented"
	}
	if reserved < smallCodeCache && flags["TieredCompilation"] != "false" {
		c.Status, c.Fix = Note, "java -XX:ReservedCodeCacheSize=240m ..."
		c.Text += ": small; HotSpot will reuse addresses (gasm tells the methods at one address apart by time)"
	}
	return c
}

// flagLine matches a line of -XX:+PrintFlagsFinal. JDK 8 writes := instead of = if the value is not the default:
//
//	uintx ReservedCodeCacheSize    = 251658240   {pd product} {ergonomic}
var flagLine = regexp.MustCompile(`(?m)^\s*\w+\s+(\w+)\s*:?=\s*(\S+)`)

// parseFlags parses what -XX:+PrintFlagsFinal prints, and returns the flags' values by name.
func parseFlags(text string) map[string]string {
	flags := map[string]string{}
	for _, m := range flagLine.FindAllStringSubmatch(text, -1) {
		flags[m[1]] = m[2]
	}
	return flags
}
