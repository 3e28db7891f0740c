package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/event/jfr"
	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/wall"
)

// measureWallTools compares what gasm attach --wall, async-profiler's wall mode and Flight Recorder say about threads
// that know for how long they have been in which state. All three record the same program in the same seconds.
func measureWallTools(ctx context.Context, s *setup) ([]figure, error) {
	if err := needApplications(); err != nil {
		return nil, err
	}
	if err := s.needJDK(); err != nil {
		return nil, err
	}
	if err := needTool("perf"); err != nil {
		return nil, err
	}
	classes := filepath.Join(s.dir, "waits")
	if _, err := run(ctx, []string{"javac", "--release", "8", "-Xlint:-options", "-d", classes,
		filepath.Join("testdata", "programs", "Waits.java")}, nil); err != nil {
		return nil, err
	}
	var all []figure
	for _, j := range s.jdks {
		rows := map[string]map[string][]float64{}
		signals := map[string][]float64{}
		for i := range s.rounds {
			s.say("%s, round %d of %d", j.label(), i+1, s.rounds)
			if err := s.wallRound(ctx, j, classes, rows, signals); err != nil {
				return all, fmt.Errorf("%s: %w", j.label(), err)
			}
		}
		all = append(all, wallFigures(j, rows, signals)...)
	}
	return all, nil
}

// wallStates are the rows of the comparison: states of the threads named "mixed", and two threads that wait in the same
// place all the time.
var wallStates = []string{"sleep", "park", "wait", "monitor", "socket", "on processor", "idle", "fifo"}

// runnable is the name of another row: the share of the time for which the threads named "mixed" waited for a
// processor. The program and the other tools don't know this time, and count it as part of the state that has just
// ended.
const runnable = "runnable"

// These are the tools of the comparison.
const (
	byProgram = "the program"
	byGasm    = "gasm"
	byAsync   = "async-profiler"
	byJFR     = "Flight Recorder, all"
	byJFR20   = "Flight Recorder, >= 20 ms"
)

func wallFigures(j installedJDK, rows map[string]map[string][]float64, signals map[string][]float64) (all []figure) {
	points := unit{"%+.2f points", 100}
	name := j.label() + ", "
	for _, state := range wallStates {
		truth := rows[state][byProgram]
		all = append(all, figure{name + state, truth, inShare, ""})
		name = ""
		for _, tool := range []string{byGasm, byAsync, byJFR, byJFR20} {
			f := figure{"  " + tool, nil, points, ""}
			for i := range truth {
				f.values = append(f.values, rows[state][tool][i]-truth[i])
			}
			if tool == byGasm {
				f.goal = "within 1 point"
			}
			all = append(all, f)
		}
	}
	all = append(all, figure{"waited for a processor, " + byGasm, rows[runnable][byGasm], inShare, ""})
	perSecond := unit{"%.1f /s", 1}
	for _, what := range []string{"signals", "interrupted system calls"} {
		for _, tool := range []string{"no profiler", byGasm, byAsync} {
			f := figure{what + ", " + tool, signals[what+tool], perSecond, ""}
			if tool == byGasm {
				f.goal = "as without"
			}
			all = append(all, f)
		}
	}
	return all
}

// mixedThreads is the number of threads that go from one state to another.
const mixedThreads = 24

// wallRound runs the program once. First, all tools record it together. Then its signals are counted without a
// profiler, with gasm, and with async-profiler.
func (s *setup) wallRound(ctx context.Context, j installedJDK, classes string, rows map[string]map[string][]float64,
	signals map[string][]float64) error {
	fifo := filepath.Join(s.dir, "fifo")
	if _, err := run(ctx, []string{"mkfifo", fifo}, nil); err != nil {
		return err
	}
	defer os.Remove(fifo)
	held, err := os.OpenFile(fifo, os.O_RDWR, 0) // otherwise, opening the FIFO would block
	if err != nil {
		return err
	}
	defer held.Close()
	app, err := start(ctx, []string{j.tool("java"), "-cp", classes, "Waits", strconv.Itoa(mixedThreads), "1", "0", "0", "0", fifo})
	if err != nil {
		return err
	}
	defer app.stop()
	for line := ""; !strings.HasPrefix(line, "READY"); {
		if line, err = app.stdout.ReadString('\n'); err != nil {
			return err
		}
	}
	shares, err := s.wallShares(ctx, j, app)
	if err != nil {
		return err
	}
	for _, state := range append([]string{runnable}, wallStates...) {
		if rows[state] == nil {
			rows[state] = map[string][]float64{}
		}
		for _, tool := range []string{byProgram, byGasm, byAsync, byJFR, byJFR20} {
			rows[state][tool] = append(rows[state][tool], shares[tool][state])
		}
	}
	return s.wallSignals(ctx, j, app.cmd.Process.Pid, signals)
}

// wallShares returns the shares of the threads' time by tool and state.
func (s *setup) wallShares(ctx context.Context, j installedJDK, app *running) (map[string]map[string]float64, error) {
	pid := app.cmd.Process.Pid
	settings, recording := filepath.Join(s.dir, "waits.jfc"), filepath.Join(s.dir, "waits.jfr")
	if err := os.WriteFile(settings, []byte(wallSettings()), 0o600); err != nil {
		return nil, err
	}
	jcmd := func(args ...string) error {
		_, err := run(ctx, append([]string{j.tool("jcmd"), strconv.Itoa(pid)}, args...), nil)
		return err
	}
	if err := jcmd("JFR.start", "name=waits", "settings="+settings); err != nil {
		return nil, err
	}
	length := time.Duration(s.size(30, 3)) * time.Second
	dir, stopGasm, err := s.startWall(ctx, pid)
	if err != nil {
		return nil, err
	}
	defer stopGasm()
	if err := s.askAsyncProfiler(ctx, j, pid, "start,event=wall,interval=50ms,threads"); err != nil {
		return nil, err
	}
	from, err := app.ask()
	if err != nil {
		return nil, err
	}
	select {
	case <-time.After(length):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	to, err := app.ask()
	if err != nil {
		return nil, err
	}
	collapsed := filepath.Join(s.dir, "waits.collapsed")
	if err := s.askAsyncProfiler(ctx, j, pid, "stop,threads,collapsed,file="+collapsed); err != nil {
		return nil, err
	}
	if err := jcmd("JFR.stop", "name=waits", "filename="+recording); err != nil {
		return nil, err
	}
	stopGasm()
	shares := map[string]map[string]float64{byProgram: from.shares(to)}
	w := window{from.at, to.at}
	for tool, read := range map[string]func() (map[string]float64, error){
		byGasm:  func() (map[string]float64, error) { return w.ofGasm(dir) },
		byAsync: func() (map[string]float64, error) { return ofAsyncProfiler(collapsed) },
		byJFR:   func() (map[string]float64, error) { return w.ofJFR(recording, 0) },
		byJFR20: func() (map[string]float64, error) { return w.ofJFR(recording, 20*time.Millisecond) },
	} {
		if shares[tool], err = read(); err != nil {
			return nil, err
		}
	}
	return shares, nil
}

// startWall starts gasm attach --wall, and waits until it records. stop ends it, and waits for its end; a second call
// does nothing.
func (s *setup) startWall(ctx context.Context, pid int) (dir string, stop func(), err error) {
	dir = filepath.Join(s.dir, "wall.capture")
	if err := os.RemoveAll(dir); err != nil {
		return "", nil, err
	}
	cmd := command(ctx, []string{s.gasm, "attach", "--wall", "-o", dir, "--report", os.DevNull, "--skip-asm",
		strconv.Itoa(pid)})
	var output bytes.Buffer
	cmd.Stderr = &output
	if err := cmd.Start(); err != nil {
		return "", nil, commandError(cmd.Args, err, "")
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // if it fails, its output says why
	}()
	stop = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(time.Minute):
			_ = cmd.Process.Kill()
		}
	}
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		text, _ := os.ReadFile(filepath.Join(dir, fmt.Sprintf("wall-%d.txt", pid))) // it may not be there yet
		if bytes.Contains(text, []byte("\nnow ")) {
			return dir, stop, nil
		}
		select {
		case <-ended:
			return "", nil, commandError(cmd.Args, errors.New("it has ended"), output.String())
		default:
		}
	}
	stop()
	return "", nil, commandError(cmd.Args, errors.New("it records nothing"), output.String())
}

// A moment has the results of the program's own measurement up to a time of CLOCK_MONOTONIC.
type moment struct {
	at    int64
	nanos map[string]float64
}

// ask asks the program what it has measured.
func (r *running) ask() (m moment, err error) {
	if _, err = io.WriteString(r.stdin, "\n"); err != nil {
		return m, err
	}
	var words []string
	for len(words) < 2 || m.at == 0 { // skip lines that async-profiler has written
		line, err := r.stdout.ReadString('\n')
		if err != nil {
			return m, err
		}
		words = strings.Fields(line)
		m.at, _ = strconv.ParseInt(strings.Join(words[:min(1, len(words))], ""), 10, 64) // 0 after an error
	}
	m.nanos = map[string]float64{}
	for i := 1; i+1 < len(words); i += 2 {
		if m.nanos[words[i]], err = strconv.ParseFloat(words[i+1], 64); err != nil {
			return m, err
		}
	}
	return m, nil
}

// shares returns the share of each row in the time from m to the later moment.
func (m moment) shares(to moment) map[string]float64 {
	shares := map[string]float64{"idle": 1, "fifo": 1} // these two threads do nothing else
	states := map[string]string{"short-sleep": "sleep", "on-processor": "on processor"}
	for name, n := range to.nanos {
		shares[cmp.Or(states[name], name)] += (n - m.nanos[name]) / float64(to.at-m.at) / mixedThreads
	}
	return shares
}

// A window is the time between two moments of CLOCK_MONOTONIC.
type window struct{ from, to int64 }

// part returns how much of an interval is within the window.
func (w window) part(from, to int64) float64 { return float64(max(0, min(to, w.to)-max(from, w.from))) }

// row returns the row of the comparison in which a thread's state is counted, or "" if there is none.
func row(thread, state string) string {
	switch thread {
	case "mixed":
		return state
	case "idle", "fifo":
		if state == "park" || state == "file" {
			return thread
		}
	}
	return ""
}

// share converts n ns into a share of the window. For a row about the threads named "mixed", it is a share of the time
// of all these threads.
func (w window) share(row string, n float64) float64 {
	if row != "idle" && row != "fifo" {
		n /= mixedThreads
	}
	return n / float64(w.to-w.from)
}

// ofGasm returns the share of each row in the window, as gasm's capture in dir has it.
func (w window) ofGasm(dir string) (map[string]float64, error) {
	files, err := filepath.Glob(filepath.Join(dir, "wall-*.txt"))
	if err != nil || len(files) != 1 {
		return nil, fmt.Errorf("%s has %d files of threads' time: %w", dir, len(files), err)
	}
	f, err := os.Open(files[0])
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, shares := map[int]string{}, map[string]float64{}
	r := wall.NewReader(f, files[0])
	for r.Scan() {
		switch record := r.Record().(type) {
		case *wall.Thread:
			names[record.Number] = record.Name
		case *wall.Spell:
			length := float64(record.ToMonoNanos - record.FromMonoNanos)
			in := w.part(record.FromMonoNanos, record.ToMonoNanos) / length
			for state, n := range map[string]int64{record.State.String(): record.Blocked, "on processor": record.Ran,
				runnable: record.Runnable} {
				if name := row(names[record.Thread], state); name != "" {
					shares[name] += w.share(name, in*float64(n))
				}
			}
		}
	}
	return shares, r.Err()
}

// placeStates maps the methods in which the threads of the comparison wait or run to the state of a thread there.
var placeStates = map[string]string{"Mixed.sleeping": "sleep", "Mixed.parking": "park", "Mixed.waiting": "wait",
	"Mixed.blocking": "monitor", "Mixed.reading": "socket", "Mixed.computing": "on processor", "Mixed.run;java/lang/Thread.sleep": "sleep",
	"Waits.idle": "park", "Waits.fifo": "file"}

// ofAsyncProfiler returns the share of each row in collapsed stacks of async-profiler. The first frame of a stack is
// the thread. A share is relative to all samples of the threads that the row is about.
func ofAsyncProfiler(path string) (map[string]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	counts, all := map[string]float64{}, map[string]float64{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		stack, number, _ := cutLast(lines.Text(), " ")
		n, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return nil, fmt.Errorf("async-profiler's line %.200q has no number of samples", lines.Text())
		}
		thread := strings.TrimPrefix(stack, "[")
		thread, _, _ = strings.Cut(thread, " tid=")
		all[thread] += n
		state := ""
		for place, of := range placeStates {
			if strings.Contains(stack, place) {
				state = of
			}
		}
		if name := row(thread, state); name != "" {
			counts[name] += n
		}
	}
	for name := range counts {
		thread := "mixed"
		if name == "idle" || name == "fifo" {
			thread = name
		}
		counts[name] /= all[thread]
	}
	return counts, lines.Err()
}

// recordedWaits has the types of JFR's events that are compared, each with the state that it stands for.
var recordedWaits = map[string]string{"jdk.JavaMonitorEnter": "monitor", "jdk.ThreadPark": "park",
	"jdk.ThreadSleep": "sleep", "jdk.JavaMonitorWait": "wait", "jdk.SocketRead": "socket", "jdk.FileRead": "file"}

// wallSettings returns a .jfc file with which JFR records all events of these types, however short.
func wallSettings() string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<configuration version="2.0">` + "\n")
	for name := range recordedWaits {
		fmt.Fprintf(&b, `<event name=%q><setting name="enabled">true</setting><setting name="threshold">0 ns</setting>`+
			`<setting name="throttle">off</setting></event>`+"\n", name)
	}
	b.WriteString("</configuration>\n")
	return b.String()
}

// ofJFR returns the share of each row in the window, as a recording has it. It leaves out events that are shorter than
// the threshold.
func (w window) ofJFR(path string, threshold time.Duration) (map[string]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	shares := map[string]float64{}
	wallNanos, monoNanos := time.Now().UnixNano(), monotonic.Nanos()
	r := jfr.NewReader(f, stat.Size(), path)
	for r.Scan() {
		e := r.Event()
		state, ok := recordedWaits[e.Type().Name]
		if !ok || e.Thread() == nil {
			continue
		}
		begin, nanos := e.MonoNanos(e.Chunk().Clock.WallAnchor(wallNanos, monoNanos))
		if nanos < int64(threshold) {
			continue
		}
		if name := row(e.Thread().Name, state); name != "" {
			shares[name] += w.share(name, w.part(begin, begin+nanos))
		}
	}
	return shares, r.Err()
}

// wallSignals counts the signals that the program gets, and its system calls that a signal interrupts: without a
// profiler, with gasm, and with async-profiler.
func (s *setup) wallSignals(ctx context.Context, j installedJDK, pid int, signals map[string][]float64) error {
	seconds := s.size(10, 1)
	count := func(tool string) error {
		// A system call that a signal interrupts returns -EINTR, or one of the kernel's own numbers from -ERESTARTSYS to
		// -ERESTART_RESTARTBLOCK.
		r, err := run(ctx, []string{"sh", "-c", `exec perf stat -x, -e signal:signal_deliver -e raw_syscalls:sys_exit ` +
			`--filter 'ret == -4 || (ret <= -512 && ret >= -516)' -p "$1" -- sleep "$2" 2>&1`, "sh", strconv.Itoa(pid),
			strconv.FormatInt(seconds, 10)}, nil)
		if err != nil {
			return err
		}
		for what, event := range map[string]string{"signals": "signal:signal_deliver",
			"interrupted system calls": "raw_syscalls:sys_exit"} {
			before, _, ok := strings.Cut(r.stdout, ",,"+event)
			n, err := strconv.ParseFloat(before[strings.LastIndexByte(before, '\n')+1:], 64)
			if !ok || err != nil {
				return fmt.Errorf("perf stat has not counted %s: %s", event, r.stdout)
			}
			signals[what+tool] = append(signals[what+tool], n/float64(seconds))
		}
		return nil
	}
	if err := count("no profiler"); err != nil {
		return err
	}
	_, stopGasm, err := s.startWall(ctx, pid)
	if err != nil {
		return err
	}
	err = count(byGasm)
	stopGasm()
	if err != nil {
		return err
	}
	if err := s.askAsyncProfiler(ctx, j, pid, "start,event=wall,interval=50ms,threads"); err != nil {
		return err
	}
	if err := count(byAsync); err != nil {
		return err
	}
	return s.askAsyncProfiler(ctx, j, pid, "stop")
}
