//go:build !linux

package usdt

import "errors"

// A Recorder records probes of one JVM.
type Recorder struct{}

var errLinux = errors.New("gasm records USDT probes on Linux only")

// Allowed tells why this process may not record probes.
func Allowed(string) (note string, err error) { return "", errLinux }

// Start records probes of a JVM, and writes their text.
func Start(int, Options) (*Recorder, error) { return nil, errLinux }

// Stop ends the recording, and gives what it has found.
func (*Recorder) Stop() Result { return Result{} }
