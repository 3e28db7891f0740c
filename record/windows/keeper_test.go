package windows

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gasm-profiler/gasm/internal/monotonic"
)

// A switchLog records what a Keeper reports and what it switches.
type switchLog struct {
	mu   sync.Mutex
	said []string
}

func (l *switchLog) note(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, text)
}

// keeping starts a Keeper for the windows of some rules.
func keeping(rules Rules) (*Output, *switchLog, *Keeper) {
	log, output := &switchLog{}, NewOutput(rules)
	k := Keep(Kept{Rules: rules, Output: output, StartedMonoNanos: monotonic.Nanos(), Changed: func(c Change) {
		text := fmt.Sprintf("closed %.1f", c.After.Seconds())
		if c.Open {
			text = fmt.Sprintf("opened %.1f", c.After.Seconds())
		}
		if c.More {
			text = "more"
		}
		log.note(text)
	}, Pause: func() { log.note("pause") }, Resume: func() { log.note("resume") }, Over: func() { log.note("over") }})
	return output, log, k
}

// done returns what was reported and what was switched, each in its order.
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

// TestKeepClock checks that with --delay and --length, the sampling ends with the window. In the tests of this file,
// time passes only while all goroutines wait, so a busy machine makes no difference.
func TestKeepClock(t *testing.T) { synctest.Test(t, keepClock) }

func keepClock(t *testing.T) {
	check := func(delay, length, until time.Duration, wantTold, wantSwitched string) {
		t.Helper()
		_, log, k := keeping(Rules{Delay: delay, Length: length})
		time.Sleep(until)
		k.End()
		told, switched := log.done()
		if told != wantTold || switched != wantSwitched {
			t.Errorf("--delay %v --length %v, %v: got %q and %q, want %q and %q", delay, length, until, told, switched, wantTold,
				wantSwitched)
		}
	}
	const ms, long = time.Millisecond, time.Minute
	check(0, 0, 50*ms, "", "")
	check(100*ms, 0, 600*ms, "opened 0.1", "")
	check(0, 100*ms, 600*ms, "closed 0.1", "over")
	check(100*ms, 200*ms, 900*ms, "opened 0.1, closed 0.2", "over")
	check(long, long, 50*ms, "", "")
	check(50*ms, long, 550*ms, "opened 0.1", "")
}

// TestKeepLines checks windows by lines. The sampling must pause when a window has been closed for a while and
// another one can open. It must end when no window can open any more.
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
		output, log, k := keeping(Rules{Start: compile(start), End: compile(end)})
		for at, together := range strings.Split(lines, "-") {
			if at > 0 { // much longer than the time from a window's end to the pause of the sampling
				time.Sleep(pauseAfter + 400*time.Millisecond)
			}
			// These lines arrive in one piece.
			output.See([]byte(strings.ReplaceAll(together, " ", "\n")), monotonic.Nanos())
		}
		k.End()
		told, switched := log.done()
		told = regexp.MustCompile(` \d\.\d`).ReplaceAllString(told, "")
		if told != wantTold || switched != wantSwitched {
			t.Errorf("start %q, end %q, %q: got %q and %q, want %q and %q", start, end, lines, told, switched, wantTold,
				wantSwitched)
		}
	}
	check("S", "E", "a - b", "", "")
	check("S", "E", "S - a -", "opened", "")
	check("S", "E", "S E -", "opened, closed", "pause")
	check("S", "E", "S E - S -", "opened, closed, opened", "pause, resume")
	check("S", "E", "S E S E S -", "opened, closed, opened, closed, opened", "")
	check("S", "E", "S E S E S E - S E S E - S -",
		"opened, closed, opened, closed, opened, closed, opened, closed, opened, closed, opened",
		"pause, resume")
	check("S", "E", "S E - S - E - S -", "opened, closed, opened, closed, opened",
		"pause, resume, pause, resume")
	check("", "E", "a - E - E", "closed", "over")
	check("S", "", "S - S", "opened", "")
	check("S", "E", strings.Repeat("S E ", 20)+"-", strings.Repeat("opened, closed, ", maxReported/2)+"more", "pause")
}
