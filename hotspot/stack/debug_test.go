package stack

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	exe "github.com/gasm-profiler/gasm/hotspot/stack/exec"
	"github.com/gasm-profiler/gasm/disasm/amd64"
	"github.com/gasm-profiler/gasm/disasm/asm"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

func TestDebug(t *testing.T) {
	for _, jd := range gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature == 8 }) {
		gasmtest.CompileJava(t, "/tmp/st", 8, gasmtest.Testdata("programs", "Stacks.java"))
		cmd := exec.Command(jd.Java(), "-cp", "/tmp/st", "Stacks")
		in, _ := cmd.StdinPipe()
		cmd.Start()
		time.Sleep(2 * time.Second)
		j := &jvm{pid: cmd.Process.Pid}
		j.open(1 << 60)
		j.poll(1 << 60)
		for _, b := range j.cache.Blobs() {
			if strings.Contains(b.Name, "call_stub") {
				c := j.codeOf(b)
				j.execute(c)
				bytes, _ := j.vm.Read(nil, c.Lo, c.Hi-c.Lo)
				for _, i := range amd64.Decode(asm.ATT, bytes, c.Lo) {
					f, ok := c.table.At(i.Addr)
					fmt.Printf("%x %-50s %v %v\n", i.Addr, i.Text, ok, f)
				}
			}
		}
		_ = exe.RAX
		in.Close()
		cmd.Process.Kill()
	}
}
