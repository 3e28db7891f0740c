package attach

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Process is one that runs a JVM.
type Process struct {
	PID  int
	Main string // the main class, or the jar without its folder; "" when unknown
	// Command is the main class or the jar's path, and the program's arguments, as the
	// property sun.java.command has them; "" when only Main is known.
	Command string
	// ClassPath has the folders and jars that the JVM has its classes from, as the property
	// java.class.path has them, but for paths that were relative to its folder; "" when unknown.
	ClassPath string
	// Version is the JDK's: "17.0.15+6-Debian-1deb12u1", "1.8.0_504"; "" when unknown.
	Version string
	User    string // the name of the user that it runs as, or the id of one without a name
	OfOther bool   // it runs as another user than gasm
	Kind    Kind
	// Unreadable is why gasm can't read the JVM's code, with what mends it; nil when it can.
	// It does not name the JVM, which Err does.
	Unreadable error
	// StartMonoNanos is when the process started, on CLOCK_MONOTONIC, as exactly as the kernel
	// tells, which is 10 ms.
	StartMonoNanos int64
}

// Kind says which JVM a process has.
type Kind string

// The kinds. Only a HotSpot keeps its code where gasm can read it.
const (
	HotSpot     Kind = "HotSpot"
	OpenJ9      Kind = "OpenJ9"
	NativeImage Kind = "native image"
)

// String is "4711 (org.acme.Server, 17.0.15)", with what is known.
func (j *Process) String() string {
	known := slices.DeleteFunc([]string{j.Main, j.Version}, func(s string) bool { return s == "" })
	if len(known) == 0 {
		return strconv.Itoa(j.PID)
	}
	return fmt.Sprintf("%d (%s)", j.PID, strings.Join(known, ", "))
}

// Err is the error of a JVM that can't be read; nil for one that can.
func (j *Process) Err() error {
	if j.Unreadable == nil {
		return nil
	}
	return fmt.Errorf("JVM %s can't be read: %w", j, j.Unreadable)
}

// Choose finds the JVMs that the user names: each word is a process id, or a part of a main
// class or of a jar's name, which must be of one JVM alone. A whole name goes before parts.
// All that are found can be read.
func Choose(ctx context.Context, words []string) ([]Process, error) {
	var chosen []Process
	var listed []Process // once it is needed
	for _, word := range words {
		var j *Process
		pid, err := strconv.Atoi(word)
		if err == nil {
			j, err = Look(ctx, pid)
		} else {
			if listed == nil {
				if listed, err = List(ctx); err != nil {
					return nil, err
				}
			}
			j, err = named(listed, word)
		}
		if err == nil {
			err = j.Err()
		}
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(chosen, func(c Process) bool { return c.PID == j.PID }) {
			chosen = append(chosen, *j)
		}
	}
	return chosen, nil
}

// An AmbiguousError is a name that several JVMs have.
type AmbiguousError struct {
	Name string
	JVMs []Process
}

func (e *AmbiguousError) Error() string {
	var all []string
	for i := range e.JVMs {
		all = append(all, e.JVMs[i].String())
	}
	return fmt.Sprintf("%d JVMs have %q in their main class or jar: %s; name one by its process id", len(e.JVMs), e.Name, strings.Join(all, ", "))
}

// named finds the one JVM that has a name.
func named(jvms []Process, name string) (*Process, error) {
	if name == "" {
		return nil, errors.New("the name of a JVM is empty: `gasm attach` lists those that run")
	}
	var whole, part []Process
	for _, j := range jvms {
		if j.Main == name {
			whole = append(whole, j)
		}
		if strings.Contains(j.Main, name) {
			part = append(part, j)
		}
	}
	if len(whole) > 0 {
		part = whole
	}
	switch len(part) {
	case 0:
		return nil, fmt.Errorf("no JVM that runs here has %q in its main class or jar: `gasm attach` lists those that run", name)
	case 1:
		return &part[0], nil
	}
	return nil, &AmbiguousError{name, part}
}
