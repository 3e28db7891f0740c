package mca

import (
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"

	"github.com/gasm-profiler/gasm/internal/fix"
)

// Auto is the argument of Find that chooses the first program that is installed, for this machine's processor.
const Auto = "auto"

// A Tool is an installed program, with the processor that it shall model.
type Tool struct {
	name string // llvm-mca or osaca
	path string
	cpu  string // the processor to model; "" for the program's own choice
}

// A ChoiceError is the error of a choice that does not name a program.
type ChoiceError struct{ Choice string }

func (e *ChoiceError) Error() string {
	return fmt.Sprintf("%q is not llvm-mca or osaca, or one of these with a processor, as llvm-mca:znver3", e.Choice)
}

// errMissing is the cause of the error of Find if the program is not installed.
var errMissing = errors.New("neither llvm-mca nor OSACA is installed")

// choice matches the valid arguments of Find.
var choice = regexp.MustCompile(`^(auto|llvm-mca|osaca)(?::([A-Za-z0-9][A-Za-z0-9._-]{0,40}))?$`)

const (
	newestLLVM = 40 // distributions add the version to the names of programs: llvm-mca-14
	oldestLLVM = 10
)

// Find finds the program that a choice names: "auto", "llvm-mca" or "osaca". The choice may continue with a colon and
// the name of a processor. llvm-mca knows processors as "znver3" and "skylake", OSACA as "ZEN3" and "SKX". Find returns
// a ChoiceError if the choice is something else, and a *fix.Error if the program is not installed.
func Find(chosen string) (*Tool, error) {
	m := choice.FindStringSubmatch(chosen)
	if m == nil {
		return nil, &ChoiceError{chosen}
	}
	if m[1] != "osaca" {
		names := []string{"llvm-mca"}
		for n := newestLLVM; n >= oldestLLVM; n-- {
			names = append(names, "llvm-mca-"+strconv.Itoa(n))
		}
		for _, name := range names {
			if path, err := exec.LookPath(name); err == nil {
				return &Tool{"llvm-mca", path, m[2]}, nil
			}
		}
	}
	if m[1] != "llvm-mca" {
		if path, err := exec.LookPath("osaca"); err == nil {
			return &Tool{"osaca", path, m[2]}, nil
		}
	}
	cause := errMissing
	if m[1] != Auto {
		cause = fmt.Errorf("%s is not installed", m[1])
	}
	return nil, &fix.Error{Err: cause, Fix: "apt install llvm, dnf install llvm, or pip install osaca"}
}

// OSACA reports whether the program is OSACA, which can't read Intel's syntax in all versions.
func (t *Tool) OSACA() bool { return t.name == "osaca" }

// String returns the program and its option for the processor: "llvm-mca -mcpu=znver3".
func (t *Tool) String() string {
	switch {
	case t.name == "llvm-mca":
		return t.name + " -mcpu=" + t.processor()
	case t.cpu == "":
		return t.name
	}
	return t.name + " --arch " + t.cpu
}

// processor returns the name of the processor for llvm-mca.
func (t *Tool) processor() string {
	if t.cpu == "" {
		return "native"
	}
	return t.cpu
}

// args returns the arguments for the program. file is the loop's source, which OSACA does not read from stdin.
func (t *Tool) args(file string) []string {
	if t.name == "llvm-mca" {
		return []string{"-mtriple=x86_64", "-mcpu=" + t.processor(), "-iterations=" + strconv.Itoa(rounds),
			"-instruction-info=0", "-resource-pressure=0", "-bottleneck-analysis"}
	}
	var args []string
	if t.cpu != "" {
		args = append(args, "--arch", t.cpu)
	}
	return append(args, file)
}

// rounds is the number of rounds that llvm-mca simulates.
const rounds = 100
