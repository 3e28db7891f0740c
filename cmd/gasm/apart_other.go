//go:build !linux

package main

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
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

func runLate(streams) error { return errors.ErrUnsupported }

func setTimerSlack(time.Duration) {}

const lateWakeUp, usualWakeUp = 0, 0
