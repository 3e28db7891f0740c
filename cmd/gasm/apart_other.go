//go:build !linux

package main

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// apart is nil, because gasm attaches to JVMs only on Linux.
var apart *os.File

func beApart() {}

func leave(code int) { os.Exit(code) }

func mayNotEnd() bool { return false }

func seesOthers() bool { return false }

func mayWatch() bool { return false }

func isWatched() bool { return false }

func runWatched(streams) error { return errors.ErrUnsupported }

func shellHasTerminal(*os.File) bool { return false }

func endWithThread(*exec.Cmd, syscall.Signal) {}

func runApart(streams) error { return errors.ErrUnsupported }
