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

// A Session controls the agent in a running JVM. There are Sessions on Linux only.
type Session struct{}

var errUnsupported = errors.New("gasm talks to running JVMs on Linux only: start the program with gasm profile")

// Load returns an error: the agent is loaded into running JVMs on Linux only.
func Load(context.Context, *foreign.Process, *foreign.World, string, []Spec) (*Session, *rings.Report, error) {
	return nil, nil, errUnsupported
}

// EndLeft and RemoveFolder do nothing, because there are no Sessions here.
func EndLeft(context.Context, *foreign.Process, *foreign.World, string) error { return nil }
func RemoveFolder(*foreign.World, string)                                     {}

// These methods are never called, because there are no Sessions here. They return zero values or errUnsupported.
func (s *Session) Report() (*rings.Report, error)         { return nil, errUnsupported }
func (s *Session) ReportSize() (int64, error)             { return 0, errUnsupported }
func (s *Session) Rings() *foreign.File                   { return nil }
func (s *Session) OpenObject(string) (sdt.Storage, error) { return nil, errUnsupported }
func (s *Session) RemoveObject(string) error              { return nil }
func (s *Session) ObjectPath(string) string               { return "" }

// These methods are never called, because there are no Sessions here. They return zero values or errUnsupported.
func (s *Session) Save(counted, told *os.File) error { return errUnsupported }
func (s *Session) Unload(context.Context) error      { return nil }
func (s *Session) Close()                            {}
func (s *Session) Leave()                            {}
