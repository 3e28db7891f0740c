package attach

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Process is a process that runs a JVM.
type Process struct {
	PID  int
	Main string // the main class, or the jar without its folder; "" when unknown
	// Command is the main class or the path of the jar, followed by the program's arguments, like the property
	// sun.java.command. It is "" if only Main is known.
	Command string
	// ClassPath lists the folders and jars with the JVM's classes, like the property java.class.path, but all paths are
	// absolute. It is "" if unknown.
	ClassPath string
	// Version is the JDK's version: "17.0.15+6-Debian-1deb12u1", "1.8.0_504"; "" if unknown.
	Version string
	User    string // name of the user that it runs as, or the id if the user has no name
	OfOther bool   // gasm does not trust the process, because it runs as another user or as a container's root
	Kind    Kind
	// Unreadable says why gasm can't read the JVM's code and how to fix that. It is nil if gasm can read the code. Unlike
	// the error that Err returns, Unreadable does not name the JVM.
	Unreadable error
	// StartMonoNanos is when the process started, on CLOCK_MONOTONIC, with the kernel's precision of 10 ms.
	StartMonoNanos int64
}

// A Kind is a kind of JVM.
type Kind string

// The kinds of JVMs. gasm can read the code of HotSpot only.
const (
	HotSpot     Kind = "HotSpot"
	OpenJ9      Kind = "OpenJ9"
	NativeImage Kind = "native image"
)

// String returns a text such as "4711 (org.acme.Server, 17.0.15)". It leaves out parts that are unknown.
func (j *Process) String() string {
	known := slices.DeleteFunc([]string{j.Main, j.Version}, func(s string) bool { return s == "" })
	if len(known) == 0 {
		return strconv.Itoa(j.PID)
	}
	return fmt.Sprintf("%d (%s)", j.PID, strings.Join(known, ", "))
}

// Err returns nil if gasm can read the JVM's code. Otherwise it returns an error that says which JVM it is about.
func (j *Process) Err() error {
	if j.Unreadable == nil {
		return nil
	}
	return fmt.Errorf("JVM %s can't be read: %w", j, j.Unreadable)
}

// Choose returns the JVMs that the user names. Each word is a process id, or a part of the name of a main class or jar.
// Such a part must match only one JVM. If the word is the whole name of a main class or jar, partial matches don't
// count. Choose returns an error if one of the JVMs can't be read.
func Choose(ctx context.Context, words []string) ([]Process, error) {
	var chosen []Process
	var listed []Process // the result of List, which is called only if a word is not a process id
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

// An AmbiguousError means that the name that the user gave matches several JVMs.
type AmbiguousError struct {
	Name string
	JVMs []Process
}

func (e *AmbiguousError) Error() string {
	var all []string
	for i := range e.JVMs {
		all = append(all, e.JVMs[i].String())
	}
	return fmt.Sprintf("%d JVMs have %q in their main class or jar: %s; name one by its process id", len(e.JVMs),
		e.Name, strings.Join(all, ", "))
}

// named returns the JVM whose main class or jar has the given name. If there is none, it returns the JVM whose main
// class or jar has a name that contains the given one. If several JVMs match, the error is an *AmbiguousError.
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
		return nil, fmt.Errorf(
			"no JVM that runs here has %q in its main class or jar: `gasm attach` lists those that run", name)
	case 1:
		return &part[0], nil
	}
	return nil, &AmbiguousError{name, part}
}
