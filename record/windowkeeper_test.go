package record

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gasm-profiler/gasm/internal/monotonic"
	"github.com/gasm-profiler/gasm/internal/native"
	"github.com/gasm-profiler/gasm/record/command"
)

// A switchLog notes what is done with the sampling and the code, and when.
type switchLog struct {
	sampling // all other methods are not called
	mu       sync.Mutex
	said     []string
	at       []time.Duration // since began
	when     time.Time
}

func (l *switchLog) note(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said, l.at = append(l.said, text), append(l.at, time.Since(l.when))
}

func (l *switchLog) Pause() error               { l.note("pause"); return nil }
func (l *switchLog) Resume() error              { l.note("resume"); return nil }
func (l *switchLog) Stop() error                { l.note("stop"); return nil }
func (l *switchLog) resolver() *native.Resolver { return nil }

// A switchedCode is the code's side of a switchLog.
type switchedCode struct {
	codeWay
	log *switchLog
}

func (c *switchedCode) pause()                { c.log.note("code pauses") }
func (c *switchedCode) resume()               { c.log.note("code resumes") }
func (c *switchedCode) end() *native.Resolver { c.log.note("code ends"); return nil }

// keeping begins to keep the windows of a recording that has nothing but its options.
func keeping(o Options) (*Recording, *switchLog, *windowKeeper) {
	r := New(o)
	log := &switchLog{when: time.Now()}
	r.sampling, r.code = log, &switchedCode{log: log}
	r.startedMonoNanos = monotonic.Nanos()
	r.o.Window = func(c WindowChange) {
		text := fmt.Sprintf("closed %.1f", c.After.Seconds())
		if c.Open {
			text = fmt.Sprintf("opened %.1f", c.After.Seconds())
		}
		if c.More {
			text = "more"
		}
		log.note(text)
	}
	return r, log, r.keepWindows(&command.Held{})
}

// done gives what was said and done, in the order of each.
func (l *switchLog) done() (told, switched string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var messages, switches []string
	for _, s := range l.said {
		if strings.HasPrefix(s, "opened") || strings.HasPrefix(s, "closed") || s == "more" {
			messages = append(messages, s)
		} else {
			switches = append(switches, s)
		}
	}
	return strings.Join(messages, ", "), strings.Join(switches, ", ")
}

// Windows by --delay and --length: the sampling ends with the last one. In these tests time passes when all wait, however busy
// the machine is.
func TestKeepClock(t *testing.T) { synctest.Test(t, keepClock) }

func keepClock(t *testing.T) {
	check := func(delay, length, until time.Duration, wantTold, wantSwitched string) {
		t.Helper()
		_, log, k := keeping(Options{Command: []string{"true"}, Code: CodePrint, Delay: delay, Length: length})
		time.Sleep(until)
		k.end()
		told, switched := log.done()
		if told != wantTold || switched != wantSwitched {
			t.Errorf("--delay %v --length %v, %v: got %q and %q, want %q and %q", delay, length, until, told, switched, wantTold, wantSwitched)
		}
	}
	const ms, long = time.Millisecond, time.Minute
	check(0, 0, 50*ms, "", "")
	check(100*ms, 0, 600*ms, "opened 0.1", "")
	check(0, 100*ms, 600*ms, "closed 0.1", "pause, stop, code ends")
	check(100*ms, 200*ms, 900*ms, "opened 0.1, closed 0.2", "pause, stop, code ends")
	check(long, long, 50*ms, "", "")
	check(50*ms, long, 550*ms, "opened 0.1", "")
}

// Windows by lines: what can open again pauses, when it is closed for a while, and what
// can't ends.
func TestKeepLines(t *testing.T) { synctest.Test(t, keepLines) }

func keepLines(t *testing.T) {
	check := func(start, end string, lines string, wantTold, wantSwitched string) {
		t.Helper()
		compile := func(re string) *regexp.Regexp {
			if re == "" {
				return nil
			}
			return regexp.MustCompile(re)
		}
		r, log, k := keeping(Options{Command: []string{"true"}, Code: CodePrint, WindowStart: compile(start), WindowEnd: compile(end)})
		for at, together := range strings.Split(lines, "-") {
			if at > 0 { // far longer than a window is closed before the sampling pauses
				time.Sleep(pauseAfter + 400*time.Millisecond)
			}
			// Lines that come together.
			r.output.See([]byte(strings.ReplaceAll(together, " ", "\n")), monotonic.Nanos())
		}
		k.end()
		told, switched := log.done()
		told = regexp.MustCompile(` \d\.\d`).ReplaceAllString(told, "")
		if told != wantTold || switched != wantSwitched {
			t.Errorf("start %q, end %q, %q: got %q and %q, want %q and %q", start, end, lines, told, switched, wantTold, wantSwitched)
		}
	}
	check("S", "E", "a - b", "", "")
	check("S", "E", "S - a -", "opened", "")
	check("S", "E", "S E -", "opened, closed", "pause, code pauses")
	check("S", "E", "S E - S -", "opened, closed, opened", "pause, code pauses, resume, code resumes")
	check("S", "E", "S E S E S -", "opened, closed, opened, closed, opened", "")
	check("S", "E", "S E S E S E - S E S E - S -", "opened, closed, opened, closed, opened, closed, opened, closed, opened, closed, opened",
		"pause, code pauses, resume, code resumes")
	check("S", "E", "S E - S - E - S -", "opened, closed, opened, closed, opened",
		"pause, code pauses, resume, code resumes, pause, code pauses, resume, code resumes")
	check("", "E", "a - E - E", "closed", "pause, stop, code ends")
	check("S", "", "S - S", "opened", "")
	check("S", "E", strings.Repeat("S E ", 20)+"-", strings.Repeat("opened, closed, ", mostTold/2)+"more", "pause, code pauses")
}
