package gasmtest

import "flag"

var long = flag.Bool("long", false, "run the long forms of tests: large inputs, many repetitions")

// Long reports whether a test may take minutes, because -long was given.
func Long() bool { return *long }
