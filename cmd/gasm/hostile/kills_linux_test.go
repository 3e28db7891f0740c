package hostile

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

var killsFlag = flag.Int("kills", 0,
	"how many times TestKills kills gasm; 0 for some, or for 50 of each signal and JDK with -long")

// TestKills sends gasm a signal at a random time while gasm attaches with probes, probes for other tracers, and
// events. No JVM may end because of this, and the next gasm must clean up what is left.
func TestKills(t *testing.T) {
	needNative(t)
	random := newRandom(t)
	kills := *killsFlag
	if kills == 0 {
		if kills = 3; gasmtest.Long() {
			kills = 50
		}
	}
	crashes := func() []string {
		found, _ := filepath.Glob("/tmp/hs_err_pid*.log")
		return found
	}
	before := crashes()
	for _, jdk := range someJDKs(t) {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			t.Run(jdk.Name()+"/"+strconv.Itoa(int(sig)), func(t *testing.T) {
				var v *jvm
				for i := range kills {
					if i%10 == 0 { // a JVM has room for only 1024 methods probed for other tracers
						v = startJVM(t, jdk)
					}
					flags := [][]string{withProbes[:2], withProbes[2:], withEvents,
						slices.Concat(withProbes, withEvents)}[random.IntN(4)]
					ctx, cancel := context.WithTimeout(t.Context(), hangTime)
					cmd := gasmCommand(ctx, slices.Concat([]string{"attach", "--length", "300ms", "--skip-asm"}, flags,
						[]string{v.pid()})...)
					s := start(t, cmd)
					time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond)
					_ = cmd.Process.Signal(sig) // it may have ended
					finish(t, cmd, s)
					cancel()
					v.endLeft(t)
					assert.Empty(t, v.left(t))
					if !assert.True(t, v.alive(), "the JVM has ended after kill %d", i) {
						for _, path := range crashes() {
							if !slices.Contains(before, path) {
								text, _ := os.ReadFile(path)
								t.Logf("%s:\n%.20000s", path, text)
							}
						}
						return
					}
				}
				v.isUnchanged(t)
			})
		}
	}
}
