package gasmtest

import "flag"

var long = flag.Bool("long", false, "run the long forms of tests: large inputs, many repetitions")

// Long tells that a test may take minutes, because -long asks for it.
func Long() bool { return *long }
