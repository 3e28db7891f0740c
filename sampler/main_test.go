package sampler

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// With the name of a helper in helperEnv the test binary is not a test but that
// program.
const helperEnv = "GASM_SAMPLER_HELPER"

var helpers = map[string]func(args []string) int{"sample": helpSample}

func TestMain(m *testing.M) {
	if run := helpers[os.Getenv(helperEnv)]; run != nil {
		os.Exit(run(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// helpSample samples a process, as the user that it runs as:
//
//	EVENTS PID DIR
//
// It prints the event, the notes, the error and its reason, one on a line.
func helpSample(args []string) int {
	pid, err := strconv.Atoi(args[1])
	if err != nil {
		panic(err)
	}
	var events []string
	if args[0] != "" {
		events = strings.Split(args[0], ",")
	}
	p, err := StartPerf(context.Background(), Options{Events: events, Frequency: 999, PID: pid, Dir: args[2]})
	var refused *RefusedError
	if errors.As(err, &refused) {
		fmt.Printf("reason %d\n", refused.Reason)
	}
	if err != nil {
		fmt.Printf("error %v\n", err)
		return 1
	}
	fmt.Printf("event %s\n", p.Event())
	for _, note := range p.Notes() {
		fmt.Printf("note %s\n", note)
	}
	if err := p.Stop(); err != nil {
		fmt.Printf("stop %v\n", err)
		return 1
	}
	return 0
}
