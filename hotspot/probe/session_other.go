//go:build !linux

package probe

import (
	"context"
	"errors"

	"github.com/gasm-profiler/gasm/event/rings"
)

// A Session is the agent at work in a JVM that was running before. There is none but on Linux.
type Session struct{}

// Load works on Linux alone.
func Load(context.Context, int, []Spec) (*Session, *rings.Report, error) {
	return nil, nil, errors.New("gasm talks to running JVMs on Linux alone: start the program with gasm profile")
}

// Folder is of no JVM.
func Folder(int) (string, error) {
	return "", errors.New("there are no probes of running JVMs but on Linux")
}

// EndLeft and RemoveFolder have nothing to end.
func EndLeft(context.Context, int) error { return nil }
func RemoveFolder(string)                {}

// Report has nothing to read.
func (s *Session) Report() (*rings.Report, error) { return new(rings.Report), nil }

// Rings and ReportText are no paths.
func (s *Session) Rings() string      { return "" }
func (s *Session) ReportText() string { return "" }

// Unload has nothing to do.
func (s *Session) Unload(context.Context) error { return nil }

// Close has nothing to do.
func (s *Session) Close() {}
