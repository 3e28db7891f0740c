package printassembly_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"

	"github.com/gasm-profiler/gasm/disasm"
	"github.com/gasm-profiler/gasm/printassembly"
)

// This example indexes the log of a JVM that ran with [printassembly.CaptureFlags] and prints the first instructions of
// one method. A log in a plain file is opened with [printassembly.Open]; this one is compressed.
func ExampleLog_Code() {
	compressed, err := os.Open("../testdata/captures/jdk17-lean-none/asm.log.gz")
	if err != nil {
		panic(err)
	}
	defer compressed.Close()
	unzip, err := gzip.NewReader(compressed)
	if err != nil {
		panic(err)
	}
	text, err := io.ReadAll(unzip)
	if err != nil {
		panic(err)
	}
	log, err := printassembly.NewLog(bytes.NewReader(text), int64(len(text)), "asm.log")
	if err != nil {
		panic(err)
	}
	fmt.Println("JDK", log.Version())
	for i := range log.Blobs {
		b := &log.Blobs[i]
		if b.Name != "Workload::dot" || b.Compiler != "c2" || b.OSR {
			continue
		}
		insts, err := log.Code(b, disasm.ATT)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s (%s): %d instructions\n", b.Name, b.Source(), len(insts))
		for _, in := range insts[:6] {
			fmt.Printf("%#x  %s\n", in.Lo, in.Text)
			for _, frame := range in.Frames {
				fmt.Printf("\t%s\n", frame)
			}
		}
		break
	}
	// Output:
	// JDK 17.0.21.0.3+1-1-Debian
	// Workload::dot (c2, level 4): 234 instructions
	// 0x7fae08ede620  mov    %eax,-0x14000(%rsp)
	// 	Workload::dot@-1 (line 12)
	// 0x7fae08ede627  push   %rbp
	// 	Workload::dot@-1 (line 12)
	// 0x7fae08ede628  sub    $0x20,%rsp
	// 	Workload::dot@-1 (line 12)
	// 0x7fae08ede62c  mov    0xc(%rsi),%r8d
	// 	Workload::dot@6 (line 12)
	// 0x7fae08ede630  xor    %r9d,%r9d
	// 	Workload::dot@7 (line 12)
	// 0x7fae08ede633  test   %r8d,%r8d
	// 	Workload::dot@7 (line 12)
}
