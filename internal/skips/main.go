// Skips prints a list of the tests that `go test -json` skipped, with their
// reasons. With -expected it fails if a skip is not in a file of expected skips:
//
//	go run ./internal/skips [-expected .ci/expected-skips.txt] tests.json
//
// Each line of that file has the name of a test and, after white space, the reason for the skip. Both are regular
// expressions, which must match the whole name and the whole reason. The name of a test begins with the folder of its
// package. Empty lines and lines that start with # are ignored:
//
//	sampler\.TestRefused  kernel\.perf_event_paranoid is -?\d+: .*
//
// It is not an error if an expected skip does not occur. Machines differ, and each stage of the CI runs only some of
// the tests.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	expected := flag.String("expected", "", "fail for skips that are not in this `file`")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *expected); err != nil {
		fmt.Fprintln(os.Stderr, "skips:", err)
		os.Exit(1)
	}
}

func run(eventsPath, expectedPath string) error {
	f, err := os.Open(eventsPath)
	if err != nil {
		return err
	}
	defer f.Close()
	tests, skips, err := readSkips(f)
	if err != nil {
		return fmt.Errorf("%s: %w", eventsPath, err)
	}
	if tests == 0 {
		return fmt.Errorf("%s has no test results: it should be what go test -json prints", eventsPath)
	}
	fmt.Printf("==> %d of %d tests and subtests were skipped\n", len(skips), tests)
	for _, s := range skips {
		fmt.Printf("    %s: %s\n", s.test, s.reason)
	}
	if expectedPath == "" {
		return nil
	}
	text, err := os.ReadFile(expectedPath)
	if err != nil {
		return err
	}
	allowed, err := parseExpected(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", expectedPath, err)
	}
	unexpected := 0
	for _, s := range skips {
		if !allowed.has(s) {
			fmt.Printf("not expected: %s: %s\n", s.test, s.reason)
			unexpected++
		}
	}
	if unexpected > 0 {
		return fmt.Errorf("%d skips are not in %s: fix the machine, or add them there", unexpected, expectedPath)
	}
	return nil
}
