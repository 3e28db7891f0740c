//go:build !linux

package main

import "errors"

func blocked([]string) error { return errors.New("only Linux has filters of system calls") }

func measured([]string) error { return errors.New("only Linux starts programs with limits here") }
