package exec

import (
	"fmt"
	"os"
	"testing"

	"github.com/gasm-profiler/gasm/disasm/amd64"
	"github.com/gasm-profiler/gasm/disasm/asm"
)

func TestDebug(t *testing.T) {
	kind := os.Getenv("KIND")
	shown := 0
	for _, b := range blobs(t) {
		if b.nmethod != (kind == "nmethod") {
			continue
		}
		c := Stub(b.lo, b.code, "")
		if b.nmethod {
			c = NMethod(b.lo, b.code, Method{})
		}
		table := Analyze(c)
		bad := 0
		for _, v := range table.at {
			if v == noFrame {
				bad++
			}
		}
		if bad == 0 {
			continue
		}
		shown++
		fmt.Printf("== %#x %d bytes, bad %d\n", b.lo, len(b.code), bad)
		if os.Getenv("BLOB") != "" && os.Getenv("BLOB") == fmt.Sprintf("%#x", b.lo) {
			for _, in := range amd64.Decode(asm.ATT, b.code, b.lo) {
				f, ok := table.At(in.Addr)
				text := f.String()
				if !ok {
					text = fmt.Sprint(table.at[in.Addr-b.lo])
				}
				fmt.Printf("%x: %-50s %s\n", in.Addr, in.Text, text)
			}
		}
	}
}
