package choice

import (
	"regexp"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/printassembly"
	"github.com/gasm-profiler/gasm/profile/calltree"
	"github.com/gasm-profiler/gasm/profile/threads"
	"github.com/gasm-profiler/gasm/profile/windows"
)

// Options are the choices of a profile. An option that perfasm has, too, has the same meaning and default as there. The
// types Profile and Profiles that comments name are those of package profile.
type Options struct {
	// HotThreshold is the share of the profile, from 0 to 1, that makes a region hot. Hot regions are annotated.
	HotThreshold float64
	// Regions is the minimum number of regions that are annotated. If fewer have enough samples, fewer are annotated.
	// See chooseHot in native.go of package profile.
	Regions int
	// MinSamples is the minimum number of samples of a region that is annotated although it is not hot. Methods and
	// instructions also need this number of samples to be listed among the hottest. With fewer samples, the order is
	// due to chance.
	MinSamples int
	// PrintMargin is the number of instructions that are shown before a region, and also after it.
	PrintMargin int
	// MergeMargin is the largest distance in bytes between two sampled instructions of one region.
	MergeMargin int
	// MergeMethods makes one region of all sampled instructions of a blob, whatever lies between them.
	MergeMethods bool
	// TooBigThreshold is a number of instructions. If a region has more, only the code around its hottest instructions
	// is annotated.
	TooBigThreshold int
	// SkipLines leaves out the annotated code. Nothing else changes.
	SkipLines bool
	// SkipInterpreter and SkipStubs leave the interpreter's code and stubs out of the lists of regions and methods. The
	// account still has their samples.
	SkipInterpreter, SkipStubs bool
	// SkipNative leaves the code of native functions out. The tables of functions still have them.
	SkipNative bool
	// Locations asks for Profile.Locations.
	Locations bool
	// Stacks asks for Profile.Stacks, and for the stacks of Profile.Locations.
	Stacks bool
	// Listings asks for Profile.Listings. Its value is the approximate number of instructions that the listings of
	// all profiles have together; 0 asks for no listings.
	Listings int
	// Hottest asks for Profile.Hottest and Profile.HotLoops.
	Hottest bool
	// Parts asks for Profile.Parts.
	Parts bool
	// History asks for Profiles.History.
	History bool
	// Syntax is the assembly syntax of x86-64 code.
	Syntax disasm.Syntax

	// PID and JVM narrow the profiles to some JVMs of the capture, see [Options.Chooses]. If both are zero, all JVMs
	// count.
	PID int
	JVM *regexp.Regexp
	// Threads narrows the profiles to the samples of some threads.
	Threads threads.Choice
	// WindowEvent narrows the windows to the times of certain events, or to the times between these events.
	WindowEvent windows.EventChoice
	// WindowMethod narrows the profiles to samples that were taken while their thread was in a method. It is the text
	// that named the method when the capture was made. If it is "", the profiles are not narrowed.
	WindowMethod string
	// Under narrows the profiles to samples that have a certain method among their inlined frames or on their call
	// stacks. If it is "", the profiles are not narrowed.
	Under calltree.Pattern
	// By asks for Profile.By. It lists the methods between which the samples are divided.
	By []calltree.Pattern
	// Sites says which frame of the stack names the place of a lock or an allocation. "" means event.SiteOwn.
	Sites event.SiteRule
	// MergeJVMs makes one profile of all programs of a run without trials.
	MergeJVMs bool
	// Operations is the number of operations that the program did within the windows of a profile. It is the same for
	// each profile. If it is 0, the numbers come from the capture.
	Operations float64
}

// Limits are the highest values of options, by the names of their flags. More lines than that take much memory, and
// nobody reads them.
var Limits = map[string]int{"print-margin": 10_000, "too-big-threshold": 20_000, "instructions": 1_000_000}

// DefaultOptions returns perfasm's defaults, except for Regions: perfasm only shows hot regions.
func DefaultOptions() Options {
	return Options{HotThreshold: 0.10, Regions: 5, MinSamples: 10, PrintMargin: 10, MergeMargin: 32, TooBigThreshold: 1000}
}

// Skips reports whether the options leave code of a kind out of the lists.
func (o *Options) Skips(k printassembly.Kind) bool {
	return o.SkipInterpreter && k == printassembly.Interpreter || o.SkipStubs && k.IsStub() || o.SkipNative &&
		k == printassembly.Library
}
