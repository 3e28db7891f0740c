package gasmtest

import (
	"flag"
	"os"
)

var long = flag.Bool("long", false, "run the long forms of tests: large inputs, many repetitions")

// Long reports whether the tests run with -long. A test may then take minutes.
func Long() bool { return *long }

// Whole reports whether a test with many combinations (of JDKs, of ways to record, of signals) tries all of them. It
// does so if the tests run with the flag -long, or if GASM_TESTS=all is set in the environment, as in `make test-all`.
// Otherwise the test tries some combinations, in which each JDK, each way and each signal occurs at least once.
func Whole() bool { return Long() || os.Getenv("GASM_TESTS") == "all" }
