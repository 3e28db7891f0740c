package dtrace

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/tool"
	"github.com/gasm-profiler/gasm/sampler/collect/external"
	"github.com/gasm-profiler/gasm/sampler/collect/machine"
)

// A Probe is a probe in DTrace's list.
type Probe struct{ Provider, Name string }

// List returns the probes that match any of the descriptions, such as "hotspot4711:::". If no probe matches, the result
// is empty, and there is no error. If sudo is true, List runs DTrace with sudo -n, which never asks for a password.
func List(ctx context.Context, sudo bool, descriptions ...string) ([]Probe, error) {
	path, err := Find()
	if err != nil {
		return nil, missing(machine.This(), "not on PATH")
	}
	command := []string{path, "-l"}
	for _, d := range descriptions {
		command = append(command, "-n", d)
	}
	if sudo {
		command = append([]string{"sudo", "-n"}, command...)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var complaint external.Buffer
	cmd := tool.Command(ctx, command[0], command[1:]...)
	cmd.Stderr = &complaint
	text, err := cmd.Output()
	probes := listedProbes(string(text))
	if err == nil || len(probes) > 0 {
		return probes, nil
	}
	if refused := refusal(complaint.String()+"\n"+string(text), path, 0, sudo, machine.This()); refused != nil {
		if isNoProbe(refused) {
			return nil, nil
		}
		return nil, refused
	}
	return nil, fmt.Errorf("%s -l: %w: %s", path, err, complaintIn(complaint.String()))
}

// listedProbes reads what dtrace -l prints:
//
//	  ID   PROVIDER            MODULE                          FUNCTION NAME
//	4057 hotspot7103         libjvm.so                       Unsafe_Park thread-park-end
func listedProbes(text string) (probes []Probe) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line) // the name of a C++ function may contain blanks
		if len(words) < 4 {
			continue
		}
		if _, err := strconv.Atoi(words[0]); err == nil {
			probes = append(probes, Probe{words[1], words[len(words)-1]})
		}
	}
	return probes
}
