package collect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/gasm-profiler/gasm/sampler/collect/failure"
)

// helperEnv is the environment variable that names a helper. If it is set, the test binary does not run
// tests: it is that helper, a program that a test needs.
const helperEnv = "GASM_SAMPLER_HELPER"

var helpers = map[string]func(args []string) int{"sample": helpSample}

func TestMain(m *testing.M) {
	if run := helpers[os.Getenv(helperEnv)]; run != nil {
		os.Exit(run(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// helpSample samples a process with perf, as the user that runs it. Its arguments are:
//
//	EVENTS PID DIR
//
// It prints the events, the notes, the error and the error's reason, each on a line.
func helpSample(args []string) int {
	pid, err := strconv.Atoi(args[1])
	if err != nil {
		panic(err)
	}
	p, err := StartPerf(context.Background(), Options{Events: eventsIn(args[0]), Frequency: 999, PID: pid, Dir: args[2]})
	var refused *failure.RefusedError
	if errors.As(err, &refused) {
		fmt.Printf("reason %d\n", refused.Reason)
	}
	if err != nil {
		fmt.Printf("error %v\n", err)
		return 1
	}
	fmt.Printf("events %s\n", specsOf(p))
	for _, note := range p.Notes() {
		fmt.Printf("note %s\n", note)
	}
	if err := p.Stop(); err != nil {
		fmt.Printf("stop %v\n", err)
		return 1
	}
	return 0
}
