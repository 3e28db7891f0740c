//go:build !linux

package main

import "context"

func measureSampling(context.Context, *setup) ([]figure, error) {
	return nil, missing("gasm samples by itself on Linux only")
}

func measureInlining(context.Context, *setup) ([]figure, error) {
	return nil, missing("the CPU time of this process is read on Linux only")
}
