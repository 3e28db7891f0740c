//go:build !linux

package main

import "context"

func measureSampling(context.Context, *setup) ([]figure, error) {
	return nil, missing("gasm samples by itself on Linux only")
}
