//go:build !linux

package probe

import (
	"context"
	"errors"
	"os"

	"github.com/gasm-profiler/gasm/event/rings"
	"github.com/gasm-profiler/gasm/hotspot/sdt"
	"github.com/gasm-profiler/gasm/internal/foreign"
)

// A Session is the agent at work in a JVM that was running before. There is none but on Linux.
type Session struct{}

var errUnsupported = errors.New("gasm talks to running JVMs on Linux alone: start the program with gasm profile")

// Place is in no JVM.
func Place(*foreign.World, int) (string, error) { return "", errUnsupported }

// Load works on Linux alone.
func Load(context.Context, *foreign.Process, *foreign.World, string, []Spec) (*Session, *rings.Report, error) {
	return nil, nil, errUnsupported
}

// EndLeft and RemoveFolder have nothing to end.
func EndLeft(context.Context, *foreign.Process, *foreign.World, string) error { return nil }
func RemoveFolder(*foreign.World, string)                                     {}

// Report and ReportSize have nothing to read, and no file is there.
func (s *Session) Report() (*rings.Report, error)         { return nil, errUnsupported }
func (s *Session) ReportSize() (int64, error)             { return 0, errUnsupported }
func (s *Session) Rings() *foreign.File                   { return nil }
func (s *Session) OpenObject(string) (sdt.Storage, error) { return nil, errUnsupported }
func (s *Session) RemoveObject(string) error              { return nil }
func (s *Session) ObjectPath(string) string               { return "" }

// Save, Unload, Close and Leave have nothing to do.
func (s *Session) Save(counted, told *os.File) error { return errUnsupported }
func (s *Session) Unload(context.Context) error      { return nil }
func (s *Session) Close()                            {}
func (s *Session) Leave()                            {}
