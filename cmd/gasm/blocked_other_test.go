//go:build !linux

package main

import "errors"

func blocked([]string) error { return errors.New("only Linux has filters of system calls") }
