package profile_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/profile"
	"github.com/gasm-profiler/gasm/profile/choice"
)

// The hottest methods of a program, and the compilers that made their code.
func ExampleOf() {
	samples, asm := unpack("jdk25-lean-none")
	defer os.RemoveAll(filepath.Dir(samples))
	c, err := capture.OpenFiles(samples, []string{asm})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	ps, err := profile.Of(c, choice.DefaultOptions())
	if err != nil {
		log.Fatal(err)
	}
	p := &ps.Trials[0]
	for _, m := range p.Methods[:4] {
		fmt.Printf("%4.1f %%  %s, %s\n", 100*p.Share(m.Counts), m.Source, m.Name)
	}
	// Output:
	// 27.6 %  stub, StubRoutines::dlog
	// 21.7 %  c2, level 4, osr, Workload::main
	//  2.3 %  interpreter, invokestatic
	//  2.3 %  vtable stub, itbl[0]
}

// The hottest instructions of the hottest region, in Intel's syntax.
func ExampleRegion() {
	samples, asm := unpack("jdk25-lean-none")
	defer os.RemoveAll(filepath.Dir(samples))
	c, err := capture.OpenFiles(samples, []string{asm})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	options := choice.DefaultOptions()
	options.Syntax = disasm.Intel
	ps, err := profile.Of(c, options)
	if err != nil {
		log.Fatal(err)
	}
	p := &ps.Trials[0]
	region := p.Regions[0]
	fmt.Printf("%s, %d instructions\n", region.Method, len(region.Lines))
	for _, line := range region.Lines {
		if p.Share(line.Counts) >= 0.02 {
			fmt.Printf("%.1f %%  %s\n", 100*p.Share(line.Counts), line.Text)
		}
	}
	// Output:
	// StubRoutines::dlog, 60 instructions
	// 2.8 %  vaddsd xmm7,xmm7,xmm2
	// 3.6 %  vaddsd xmm1,xmm1,xmm4
	// 3.2 %  vpshufd xmm5,xmm4,0xee
}

// An account says where each sample went.
func ExampleAccount() {
	samples, asm := unpack("jdk17-lean-none")
	defer os.RemoveAll(filepath.Dir(samples))
	c, err := capture.OpenFiles(samples, []string{asm})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	ps, err := profile.Of(c, choice.DefaultOptions())
	if err != nil {
		log.Fatal(err)
	}
	a := ps.Trials[0].Accounts[0]
	fmt.Printf("%d samples, %d of other processes, %d in the profile\n", a.Total, a.OtherProcess, a.Profiled)
	fmt.Printf("compiled %d, stubs %d, interpreter %d, native %d, kernel %d, unresolved %d\n",
		a.Compiled, a.Stub, a.Interpreter, a.Native, a.Kernel, a.Unresolved)
	fmt.Println("balanced:", a.Balanced())
	// Output:
	// 2570 samples, 0 of other processes, 2570 in the profile
	// compiled 793, stubs 749, interpreter 210, native 636, kernel 181, unresolved 1
	// balanced: true
}

// unpack writes the samples and the log of a committed capture into a new folder. It returns their paths.
func unpack(name string) (samples, asm string) {
	dir, err := os.MkdirTemp("", "gasm-example-")
	if err != nil {
		log.Fatal(err)
	}
	for _, file := range []string{gasmtest.Samples, gasmtest.Log} {
		packed, err := os.Open(gasmtest.Testdata("captures", name, file+".gz"))
		if err != nil {
			log.Fatal(err)
		}
		defer packed.Close()
		z, err := gzip.NewReader(packed)
		if err != nil {
			log.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o600); err != nil {
			log.Fatal(err)
		}
	}
	return filepath.Join(dir, gasmtest.Samples), filepath.Join(dir, gasmtest.Log)
}
