package gasmtest

import "flag"

var long = flag.Bool("long", false, "run the long forms of tests: large inputs, many repetitions")

// Long reports whether the tests run with -long. A test may then take minutes.
func Long() bool { return *long }
