package gasmtest

import (
	"flag"
	"os"
)

var long = flag.Bool("long", false, "run the long forms of tests: large inputs, many repetitions")

// Long reports whether the tests run with -long. A test may then take minutes.
func Long() bool { return *long }

// Whole reports whether tests that do the same many times do so as often as they can in some seconds: on all JDKs, in
// all ways, with all signals. They do if the tests run with the flag -long, or if GASM_TESTS=all is set in the
// environment, as in `make test-all`. Otherwise a test takes some of these combinations, so that each JDK, each way and
// each signal is among them.
func Whole() bool { return Long() || os.Getenv("GASM_TESTS") == "all" }
