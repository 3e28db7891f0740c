package profile

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/profile/choice"
	"github.com/gasm-profiler/gasm/sampler"
)

// Samples of HotSpot printing code for gasm are in a row of the account, and nowhere else. If the code was copied, or
// if it is unknown how it was obtained, no samples count as printing.
func TestPrintingAccount(t *testing.T) {
	in := func(ms int64, thread, module, symbol string) sampler.Sample {
		s := native(1, ms, module, symbol)
		s.Thread = thread
		return s
	}
	const compiler, collector, main = "C2 CompilerThre", "GC Thread#0", "main"
	samples := []sampler.Sample{
		// the main thread prints stubs
		in(15, compiler, "libjvm.so", "xmlStream::write_text"), in(15, main, "libjvm.so", "xmlStream::write_text"),
		in(15, compiler, "libc.so.6", "__vfprintf_internal"), in(15, main, "libc.so.6", "__vfprintf_internal"),
		in(15, compiler, kernelModule, "vfs_write"), in(15, collector, kernelModule, "vfs_write"),
		in(15, compiler, "libjvm.so", "PhaseChaitin::Split"), in(15, "", "libjvm.so", "outputStream::print"),
		in(99, compiler, "libjvm.so", "xmlStream::write_text"), at(1, 15, 0x700),
	}
	for code, want := range map[string]Account{
		capture.CodePrinted: {Total: 10, OutsideWindow: 1, Printing: 4, Profiled: 5, Compiled: 1, Native: 3, Kernel: 1},
		capture.CodeMixed:   {Total: 10, OutsideWindow: 1, Printing: 4, Profiled: 5, Compiled: 1, Native: 3, Kernel: 1},
		capture.CodeCopied:  {Total: 10, OutsideWindow: 1, Profiled: 9, Compiled: 1, Native: 6, Kernel: 2},
		"":                  {Total: 10, OutsideWindow: 1, Profiled: 9, Compiled: 1, Native: 6, Kernel: 2},
	} {
		b := NewBuilder(choice.Config{
			JVMs:   []capture.JVM{{PID: 1, Log: smallLog(t)}},
			Trials: []capture.Trial{{Windows: []capture.Window{window(1, 10e6, 20e6)}}},
			Code:   code,
		})
		add(b, samples...)
		p := build(t, b, choice.DefaultOptions())[0]
		assert.Equal(t, want, p.Accounts[0], code)
		if want.Printing > 0 {
			for _, f := range p.Native {
				assert.NotEqual(t, "xmlStream::write_text", f.Symbol)
			}
		}
	}
}
