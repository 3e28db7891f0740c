package main

import (
	"bufio"
	"bytes"
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect/xctrace"
)

// No macOS is available here, so the program of this test replaces xctrace, under the name xcrun. It takes the same
// arguments as xctrace, samples with perf, and writes perf's samples as an export, in the form that public projects
// show. So the samples are real, but the export is not.

// xcrunFails is an environment variable that makes the program xcrun fail. Its value says when: "record", "time-info"
// or "export".
const xcrunFails = "GASM_TEST_XCRUN_FAILS"

// xcrunFirst is an environment variable with the name of a file, to which xcrun writes the time of perf's first
// sample.
const xcrunFirst = "GASM_TEST_XCRUN_FIRST"

// xcrun does what gasm asks the program xcrun to do.
func xcrun(args []string) error {
	fails := os.Getenv(xcrunFails)
	line := strings.Join(args, " ")
	after := func(flag string) string {
		if i := slices.Index(args, flag); i >= 0 && i+1 < len(args) {
			return args[i+1]
		}
		return ""
	}
	switch {
	case line == "--find xctrace":
		fmt.Println("/Applications/Xcode.app/Contents/Developer/usr/bin/xctrace")
		return nil
	case strings.HasPrefix(line, "xctrace record --instrument Time Profiler --all-processes --no-prompt --notify-tracing-started gasm.") && fails != "record":
		return recordByPerf(after("--output"))
	case strings.HasPrefix(line, "xctrace export --input ") && strings.HasSuffix(line, " --toc"):
		began, err := os.ReadFile(filepath.Join(after("--input"), "date"))
		fmt.Printf("<?xml version=\"1.0\"?><trace-toc><run number=\"1\"><info><summary><start-date>%s</start-date></summary></info></run></trace-toc>\n", began)
		return err
	case strings.HasSuffix(line, `table[@schema="time-info"]`) && fails != "time-info":
		began, err := os.ReadFile(filepath.Join(after("--input"), "began"))
		fmt.Printf(`<trace-query-result><node><schema name="time-info"/><row><sample-time id="1">0</sample-time><mach-absolute-time id="2">%s</mach-absolute-time>`+
			`<mach-timebase-info id="4"><mach-timebase-info-field>1</mach-timebase-info-field><mach-timebase-info-field>1</mach-timebase-info-field></mach-timebase-info></row></node></trace-query-result>`, began)
		return err
	case strings.HasSuffix(line, `/trace-toc/run[@number="1"]/data/table[@schema="time-profile"]`) && fails != "export":
		return exportPerf(after("--input"))
	}
	return fmt.Errorf("xctrace: Error: can't do %q", line)
}

// recordByPerf samples all processes until SIGINT.
func recordByPerf(trace string) error {
	if err := os.Mkdir(trace, 0o700); err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	now := capture.ReadClock()
	date := time.Unix(0, now.WallNanos).Format("2006-01-02T15:04:05.000Z07:00")
	for name, text := range map[string]string{"began": strconv.FormatInt(now.MonoNanos, 10), "date": date} {
		if err := os.WriteFile(filepath.Join(trace, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	perf := exec.Command("perf", "record", "-q", "-a", "-k", "mono", "-F", "1000", "-e", "cpu-clock:u", "-o",
		filepath.Join(trace, "perf.data"))
	perf.Stderr = os.Stderr
	if err := perf.Start(); err != nil {
		return err
	}
	// until it records
	for deadline := time.Now().Add(hangs); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if info, err := os.Stat(filepath.Join(trace, "perf.data")); err == nil && info.Size() > 0 {
			break
		}
	}
	fmt.Println("Starting recording with the Blank template. Targeting all processes.\nCtrl-C to stop the recording")
	<-stop // the whole process group gets the signal, including perf
	_ = perf.Process.Signal(os.Interrupt)
	_ = perf.Wait() // the error only says that a signal ended perf
	fmt.Println("Stopping recording...\nRecording completed. Saving output file...")
	return nil
}

func exportPerf(trace string) error {
	script := exec.Command("perf", "script", "--ns", "-F", "comm,pid,tid,time,event,ip,sym,dso", "-i",
		filepath.Join(trace, "perf.data"))
	out, err := script.StdoutPipe()
	if err != nil {
		return err
	}
	if err := script.Start(); err != nil {
		return err
	}
	began, err := os.ReadFile(filepath.Join(trace, "began"))
	if err != nil {
		return err
	}
	from, err := strconv.ParseInt(string(began), 10, 64)
	if err != nil {
		return err
	}
	first, err := writeXCTrace(os.Stdout, sampler.NewPerfReader(out, "perf"), from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(os.Getenv(xcrunFirst), []byte(strconv.FormatInt(first, 10)), 0o600); err != nil {
		return err
	}
	return script.Wait()
}

// writeXCTrace writes samples as an export of the table time-profile, as Xcode 26 does: each value is written only
// once, addresses are one too high, and times count from began. It returns the time of the first sample.
func writeXCTrace(w io.Writer, r sampler.Reader, began int64) (first int64, err error) {
	out := bufio.NewWriter(w)
	ids := map[string]int{}
	// element returns an element, or a reference if the same element was written before.
	element := func(key, name, attributes, content string) string {
		if id, ok := ids[name+key]; ok {
			return fmt.Sprintf(`<%s ref="%d"/>`, name, id)
		}
		ids[name+key] = len(ids) + 1
		return fmt.Sprintf(`<%s id="%d"%s>%s</%s>`, name, len(ids), attributes, content, name)
	}
	fmt.Fprint(out, "<?xml version=\"1.0\"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'><schema name=\"time-profile\"/>\n")
	for r.Scan() {
		s, ok := r.Record().(*sampler.Sample)
		if !ok {
			continue
		}
		if first == 0 {
			first = s.MonoNanos
		}
		number := func(n int64) string { return strconv.FormatInt(n, 10) }
		pid := number(int64(s.PID))
		process := func() string { return element(pid, "process", "", element(pid, "pid", "", pid)) }
		tid := number(int64(s.TID))
		thread := element(pid+"/"+tid, "thread", fmt.Sprintf(` fmt="%s  0x%x (java, pid: %s)"`, html.EscapeString(s.Thread),
			s.TID, pid),
			element(pid+"/"+tid, "tid", "", tid)+process())
		binary := ""
		if s.Module != "" {
			binary = element(s.Module, "binary", fmt.Sprintf(` name="%s" arch="x86_64"`, html.EscapeString(s.Module)), "")
		}
		at := fmt.Sprintf("%#x", s.PC+1)
		name := s.Symbol
		if name == "" {
			name = at
		}
		frame := element(at+name, "frame", fmt.Sprintf(` name="%s" addr="%s"`, html.EscapeString(name), at), binary)
		stack := element(at+name, "tagged-backtrace", "", element(at+name, "backtrace", "", frame))
		fmt.Fprintf(out, "<row>%s%s%s%s%s%s</row>\n", element(number(s.MonoNanos), "sample-time", "",
			number(s.MonoNanos-began)), thread, process(),
			element("", "thread-state", "", "Running"), element("", "weight", "", "1000000"), stack)
	}
	fmt.Fprint(out, "</node></trace-query-result>\n")
	if err := out.Flush(); err != nil {
		return 0, err
	}
	return first, r.Err()
}

// TestReportOfXCTrace checks that gasm makes the same report from an export as from the samples from which the export
// was made.
func TestReportOfXCTrace(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"jdk17-lean-none", "jdk25-full-hsdis"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			samples, log := gasmtest.UnpackCapture(t, name, t.TempDir())
			text := readFile(t, samples)
			var export bytes.Buffer
			_, err := writeXCTrace(&export, sampler.NewReader(bytes.NewReader(text), samples), 1e9)
			require.NoError(t, err)
			file := filepath.Join(t.TempDir(), "export.xml")
			require.NoError(t, os.WriteFile(file, export.Bytes(), 0o600))

			r := runGasm(t, []string{"report", "--format", "json", samples, log})
			require.Equal(t, 0, r.code, r.stderr)
			want := readReport(t, []byte(r.stdout)).Profiles[0]
			r = runGasm(t, []string{"report", "--format", "json", file, log})
			require.Equal(t, 0, r.code, r.stderr)
			got := readReport(t, []byte(r.stdout)).Profiles[0]
			event := hottestEvent(&want)
			assert.Equal(t, []string{"time-profile"}, got.Account.Events)
			assert.Equal(t, want.Account.Of(event), got.Account.Of("time-profile"))
			require.Len(t, got.Regions, len(want.Regions))
			for i, region := range want.Regions {
				assert.Equal(t, []any{region.Method, region.Lo, region.Hi},
					[]any{got.Regions[i].Method, got.Regions[i].Lo, got.Regions[i].Hi})
				assert.Equal(t, region.Counts.Of(event), got.Regions[i].Counts.Of("time-profile"))
			}
			assert.NotEmpty(t, want.Native)
			for i, f := range want.Native[:min(len(want.Native), 5)] {
				assert.Equal(t, f.Counts.Of(event), got.Native[i].Counts.Of("time-profile"))
			}
		})
	}
}

// withXCRun puts the program that replaces xcrun on PATH.
func withXCRun(t *testing.T) runOpt {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Symlink(self, filepath.Join(dir, "xcrun")))
	return withEnv("PATH=" + dir + ":" + os.Getenv("PATH"))
}

// TestXCTrace makes a recording and its report. The arguments of xctrace must be right. The recording must begin
// before the command and end after it. Its times must match those of the windows, whichever of its two clocks is
// used.
func TestXCTrace(t *testing.T) {
	t.Parallel()
	gasmtest.NeedPerf(t)
	if out, err := exec.Command("perf", "record", "-q", "-a", "-e", "cpu-clock:u", "-o", os.DevNull,
		"true").CombinedOutput(); err != nil {
		t.Skipf("perf can't sample all processes here: %s", out)
	}
	java := gasmtest.NeedJava(t)
	// On a busy machine, the JVM takes longer to start, so all times are longer.
	delay := warmUp(t)
	length := delay / 2
	// With time-info, the times are those of perf. With the wall clock, they are rounded to ms, and each of the two
	// clocks is read twice.
	for fails, tolerance := range map[string]float64{"": 0, "time-info": 20e6} {
		out := filepath.Join(t.TempDir(), "capture")
		r := runGasm(t, []string{"profile", "--sampler", "xctrace", "--format", "json", "--report", out + ".json", "-o", out,
			"--delay", delay.String(), "--length", length.String(),
			"--", java, "-XX:+UseSerialGC", fmt.Sprintf("-Dsec=%.1f", (2 * delay).Seconds()), "-cp", javaPrograms(t), "Spin"},
			withXCRun(t), withEnv(xcrunFails+"="+fails, xcrunFirst+"="+out+".first"))
		require.Equal(t, 0, r.code, r.stderr)
		report := readReport(t, readFile(t, out+".json"))
		assert.Equal(t, "xctrace", report.Capture.Sampler)
		assert.Equal(t, []string{"time-profile"}, report.Capture.Events)
		assert.Equal(t, 1000, report.Capture.Frequency)
		notes := strings.Join(report.Capture.Notes, "\n")
		assert.Equal(t, fails != "", strings.Contains(notes, "taken from the wall clock"), notes)

		first, err := strconv.ParseFloat(string(readFile(t, out+".first")), 64)
		require.NoError(t, err)
		samples := sampler.NewReader(bytes.NewReader(readFile(t, filepath.Join(out, capture.SamplesFile))), "samples")
		require.True(t, samples.Scan())
		assert.InDelta(t, first, samples.Record().(*sampler.Sample).MonoNanos, tolerance)

		p := report.Profiles[0]
		a := p.Account.Of("time-profile")
		assert.Greater(t, a.Profiled, int64(50), "of a time in which one thread spins, on a machine that may be busy")
		assert.Greater(t, a.OutsideWindow, int64(20), "of the rest")
		assert.LessOrEqual(t, a.Profiled, int64(1100*length.Seconds())*int64(runtime.NumCPU()),
			"there are no more than 1000 a second and CPU")
		assert.LessOrEqual(t, a.Unresolved, a.Profiled/20)
		assert.Contains(t, p.Methods[0].Name, "Spin::", "the hottest method")
		assert.Greater(t, p.Methods[0].Counts.Of("time-profile"), a.Profiled/2)
		assert.NoDirExists(t, filepath.Join(out, xctrace.Folder), "it is in the text now")
	}
}

func TestXCTraceRefused(t *testing.T) {
	t.Parallel()
	profile := []string{"profile", "--sampler", "xctrace"}
	ran := filepath.Join(t.TempDir(), "ran")
	for _, c := range []struct {
		flags []string
		code  int
		said  string
	}{
		{[]string{"--frequency", "1001"}, 2, "Instruments samples 1000 times a second"},
		{[]string{"--event", "instructions"}, 2, "xctrace samples by time"},
		{[]string{"--sudo"}, 2, "xctrace needs no root"},
	} {
		r := runGasm(t, append(append(slices.Clone(profile), c.flags...), "--", "touch", ran))
		assert.Equal(t, c.code, r.code)
		assert.Contains(t, r.said(), c.said)
	}
	r := runGasm(t, append(profile, "--", "touch", ran))
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.said(), "xctrace is a part of Xcode, which is for macOS alone")
	r = runGasm(t, append(profile, "--", "touch", ran), withXCRun(t), withEnv(xcrunFails+"=record"))
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.said(), "xctrace: Error: can't do")
	assert.NoFileExists(t, ran)
}
