package record

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/hotspot/follow"
)

// The build of a JDK is added to versions without it, if it is known.
func TestCompleteVersions(t *testing.T) {
	for before, want := range map[string]string{
		"17.0.15 17.0.15+6-Debian 25.0.1 ":             "17.0.15+6-Debian 17.0.15+6-Debian 25.0.1 ",
		"17.0.15+6 17.0.15 17.0.15+6-Debian 17.0.15+6": "17.0.15+6 17.0.15 17.0.15+6-Debian 17.0.15+6",
		"1.8.0_472 1.8.0_472":                          "1.8.0_472 1.8.0_472",
	} {
		var jvms []capture.JVM
		for v := range strings.SplitSeq(before, " ") {
			jvms = append(jvms, capture.JVM{Version: v})
		}
		completeVersions(jvms)
		var got []string
		for _, j := range jvms {
			got = append(got, j.Version)
		}
		assert.Equal(t, want, strings.Join(got, " "))
	}
}

// Notes say what could not be had of a JVM's code, unless it hardly matters.
func TestCodeNotes(t *testing.T) {
	cause := errors.New("no such table")
	for _, c := range []struct {
		name   string
		result follow.Result
		want   []string // a part of each note
	}{
		{"all", follow.Result{Methods: 900, Copied: 100, Samples: 1000}, nil},
		{"a few late", follow.Result{Copied: 100, Late: 5}, nil},
		{"many late", follow.Result{Copied: 100, Late: 60},
			[]string{"the code of 60 of the 160 sampled methods of JVM 4711 was gone before it was copied"}},
		{"missed", follow.Result{Copied: 99, Missed: 1, Why: cause},
			[]string{"the code of 1 of the 100 sampled methods of JVM 4711 could not be copied, and is not in the report: no such table"}},
		{"one ambiguous", follow.Result{Samples: 1000, Ambiguous: 1}, nil},
		{"ambiguous", follow.Result{Samples: 1000, Ambiguous: 2},
			[]string{"2 of the 1000 samples in code of JVM 4711 were at addresses whose code was replaced between two looks"}},
		{"no frames", follow.Result{NoFrames: cause},
			[]string{"the methods of JVM 4711 have no lines and no inlined methods: no such table"}},
		{"unread", follow.Result{Unread: cause, NoFrames: cause},
			[]string{"the code of JVM 4711 could not be followed to the end", "have no lines"}},
	} {
		notes := (&followedJVM{Process: attach.Process{PID: 4711}, result: c.result}).codeNotes()
		assert.Len(t, notes, len(c.want), "%s: %s", c.name, strings.Join(notes, "\n"))
		for i, want := range c.want[:min(len(c.want), len(notes))] {
			assert.Contains(t, notes[i], want, c.name)
		}
	}
}
