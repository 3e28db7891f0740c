// Skips prints one list of the tests that `go test -json` skipped, with their
// reasons, and with -expected fails when the list has a skip that nobody expects:
//
//	go run ./internal/skips [-expected .ci/expected-skips.txt] tests.json
//
// The file of expected skips has one a line: the name of the test, and after white
// space the reason. Both are regular expressions for the whole text. A test is named
// by its package's folder and its own name. An empty line, or one that starts with #,
// means nothing:
//
//	sampler\.TestRefused  kernel\.perf_event_paranoid is -?\d+: .*
//
// A skip that is expected and does not occur is no error, because machines differ.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	expected := flag.String("expected", "", "fail for skips that this `file` does not have")
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
		return fmt.Errorf("%s tells of no test: it should be what go test -json prints", eventsPath)
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
		return fmt.Errorf("%d skips are not in %s: mend the machine, or add them there", unexpected, expectedPath)
	}
	return nil
}
