//go:build !linux

package main

func countProbes(int, string, string, bool) (stop func(), err error) {
	return nil, missing("USDT probes can be counted on Linux only")
}

func libjvmOf(int) (string, error) { return "", missing("USDT probes can be counted on Linux only") }
