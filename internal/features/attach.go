package main

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/report/schema"
)

// start starts the program, unless it was started already, and waits until it has warmed up. The program then works
// until the method end stops it. DTraceAllocProbes switches on HotSpot's probes of allocations, which are off by
// default.
func (t *trial) start() error {
	if t.running != nil {
		return nil
	}
	c := t.command(0, "-XX:+DTraceAllocProbes")
	cmd := exec.Command(c[0], c[1:]...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	t.running = cmd
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == "MEASURE" {
			return nil
		}
	}
	return errors.New("the program has ended")
}

// end ends the program.
func (t *trial) end() {
	if t.running != nil {
		_ = t.running.Process.Kill()
		_ = t.running.Wait() // the error is that it was killed
	}
}

func (t *trial) pid() string { return strconv.Itoa(t.running.Process.Pid) }

// attachFor attaches gasm to the program, and returns the profile.
func (t *trial) attachFor(name string, flags ...string) (*schema.Profile, error) {
	if err := t.start(); err != nil {
		return nil, err
	}
	report := filepath.Join(t.dir, name+".json")
	args := append([]string{"attach", "-o", filepath.Join(t.dir, name), "--format", "json", "--report", report}, flags...)
	if _, err := t.run(append(args, t.pid())...); err != nil {
		return nil, err
	}
	return readReport(report)
}

// attach attaches gasm to the program, and checks that the profile has the program's methods.
func (t *trial) attach() (string, error) {
	p, err := t.attachFor("attach", "--length", "8s", "--events", "none")
	if err != nil {
		return "", err
	}
	a := p.Account.Values[0]
	text := fmt.Sprintf("%d samples, %d unresolved", a.Profiled, a.Unresolved)
	if float64(a.Unresolved) > (1-leastResolved)*float64(a.Profiled) {
		return "", errors.New(text)
	}
	for _, m := range methods {
		if !slices.ContainsFunc(p.Methods, func(have schema.Method) bool { return have.Name == "Shares::"+m }) {
			return "", fmt.Errorf("no Shares::%s: %s", m, text)
		}
	}
	t.before = filepath.Join(t.dir, "attach.json")
	return text, nil
}

// diff compares the profiles that profile and attach have recorded.
func (t *trial) diff() (string, error) {
	if t.report == nil || t.before == "" {
		return "", errNoProfile
	}
	text, err := t.run("diff", filepath.Join(t.dir, "profile.json"), t.before)
	if err != nil {
		return "", err
	}
	if !strings.Contains(text, "Shares::heavy") {
		return "", errors.New("no Shares::heavy")
	}
	return "", nil
}

// usdt records allocations with HotSpot's static probes (USDT), and checks that nearly all of them have a place in the
// code.
func (t *trial) usdt() (string, error) {
	p, err := t.attachFor("usdt", "--length", "8s", "--events", "alloc", "--events-from", "usdt")
	if err != nil {
		return "", err
	}
	events, placed, places := 0, 0, []string(nil)
	for _, a := range p.Allocations {
		events += a.Events
		if a.At == nil && a.Code == nil {
			continue
		}
		placed += a.Events
		if strings.Contains(a.Class, "Node") || strings.HasPrefix(a.Class, "long[]") {
			place := a.Class + " in "
			if a.At != nil {
				place += fmt.Sprintf("%s:%d", a.At.Method, a.At.Line)
			} else {
				place += a.Code.Name
			}
			places = append(places, place)
		}
	}
	slices.Sort(places)
	text := fmt.Sprintf("%d of %d allocations placed: %s", placed, events, strings.Join(slices.Compact(places), ", "))
	if events == 0 || placed*10 < events*9 || len(places) < 2 {
		return "", errors.New(text)
	}
	return text, nil
}

// jfr records allocations with Flight Recorder. It records for 150 s, because a JVM in an emulated machine takes more
// than a minute to start Flight Recorder.
func (t *trial) jfr() (string, error) {
	if _, err := os.Stat(filepath.Join(t.home, "lib/libmanagement.so")); err != nil {
		return "", err
	}
	p, err := t.attachFor("jfr", "--length", "150s", "--events", "alloc,park", "--events-from", "jfr")
	if err != nil {
		return "", err
	}
	events, placed := 0, 0
	for _, a := range p.Allocations {
		if events += a.Events; a.At != nil && strings.HasPrefix(a.At.Method, "Features") {
			placed += a.Events
		}
	}
	text := fmt.Sprintf("%d allocations, %d in Features, from %.0f s on", events, placed, p.UnrecordedSeconds)
	if placed == 0 {
		return "", fmt.Errorf("%s: %v", text, p.Warnings)
	}
	return text, nil
}

// patience is how long gasm may take until the program has loaded gasm's agent.
const patience = 5 * time.Minute

// probeSDT lets gasm add a static probe (SDT) for a Java method. Then it sets a uprobe there, with the probe's
// semaphore, as a tracer does, and checks that calls of the method reach the uprobe.
func (t *trial) probeSDT() (string, error) {
	if err := t.start(); err != nil {
		return "", err
	}
	tracefs := "/sys/kernel/tracing"
	if _, err := os.Stat(filepath.Join(tracefs, "uprobe_events")); err != nil {
		return "", errNotThere
	}
	var errs bytes.Buffer
	cmd := exec.Command(t.gasm, "attach", "-o", filepath.Join(t.dir, "sdt"), "--report", "/dev/null", "--length", "600s",
		"--events", "none", "--probe-sdt", "Features$Maker::make", t.pid())
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		return "", err
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // the error is that it was interrupted
	}()
	var note *sdtNote
	var object string
	for end := time.Now().Add(patience); note == nil; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			return "", fmt.Errorf("no object with probes in the JVM: %s", errs.String())
		}
		if object = t.mappedProbes(); object != "" {
			note, _ = readNote(object, "make__entry") // again, while it is not complete
		}
	}
	begin := time.Now()
	group := "gasm_features"
	if err := tell(filepath.Join(tracefs, "uprobe_events"),
		fmt.Sprintf("p:%s/entry %s:0x%x(0x%x) n=%%x1:s64", group, object, note.offset, note.semaphore)); err != nil {
		return "", err
	}
	events := filepath.Join(tracefs, "events", group, "entry")
	defer func() {
		_ = tell(filepath.Join(events, "enable"), "0")
		_ = tell(filepath.Join(tracefs, "uprobe_events"), fmt.Sprintf("-:%s/entry", group))
	}()
	if err := tell(filepath.Join(events, "enable"), "1"); err != nil {
		return "", err
	}
	for time.Since(begin) < time.Minute {
		time.Sleep(500 * time.Millisecond)
		text, err := os.ReadFile(filepath.Join(tracefs, "trace"))
		if err != nil {
			return "", err
		}
		if n := bytes.Count(text, []byte("entry: (")); n > 20 {
			for want := 8; want < 28; want++ { // the arguments of the calls in the program's source
				if !bytes.Contains(text, fmt.Appendf(nil, "n=%d\n", want)) {
					return "", fmt.Errorf("no call with the argument %d: %s", want, note.arguments)
				}
			}
			return fmt.Sprintf("%d calls, arguments %s", n, note.arguments), nil
		}
	}
	return "", errors.New("the probe was not reached")
}

func tell(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text+"\n")
	return errors.Join(err, f.Close())
}

// mappedProbes returns the path of the shared object with static probes that gasm makes the program load. It returns ""
// if the program has not loaded it yet.
func (t *trial) mappedProbes() string {
	mappings, _ := native.ReadMaps(t.running.Process.Pid) // if it has ended, it maps nothing
	for _, m := range mappings {
		if filepath.Base(m.Path) == "java-"+t.pid()+".so" {
			return m.Path
		}
	}
	return ""
}

// An sdtNote is a note of a static probe.
type sdtNote struct {
	offset, semaphore uint64 // in the file
	arguments         string
}

// readNote reads the note of the first static probe whose name ends with the given text.
func readNote(path, name string) (*sdtNote, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	section := f.Section(".note.stapsdt")
	if section == nil {
		return nil, errors.New("no notes")
	}
	data, err := section.Data()
	if err != nil {
		return nil, err
	}
	for len(data) >= 20 {
		size := int(binary.LittleEndian.Uint32(data[4:]))
		end := 20 + (size+3)&^3
		if size < 24 || end > len(data) {
			break
		}
		desc := data[20:][:size]
		words := strings.SplitN(string(desc[24:]), "\x00", 4) // provider, name, arguments
		if len(words) >= 3 && strings.HasSuffix(words[1], name) {
			n := &sdtNote{fileOffset(f, binary.LittleEndian.Uint64(desc)), fileOffset(f, binary.LittleEndian.Uint64(desc[16:])),
				words[2]}
			return n, nil
		}
		data = data[end:]
	}
	return nil, fmt.Errorf("no probe %s", name)
}

// fileOffset returns the offset in the file of the byte that is loaded at an address.
func fileOffset(f *elf.File, addr uint64) uint64 {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Vaddr <= addr && addr < p.Vaddr+p.Filesz {
			return addr - p.Vaddr + p.Off
		}
	}
	return addr
}
