package doctor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/hotspot/stack"
	"github.com/gasm-profiler/gasm/hotspot/wallclock"
	"github.com/gasm-profiler/gasm/wall"
)

// wallTime is how long the threads of a JVM are recorded, and wallPause is the time between two attempts to start.
const (
	wallTime  = 500 * time.Millisecond
	wallPause = 50 * time.Millisecond
)

// checkWall records the threads of a JVM of this JDK, as gasm profile --wall does. dir is a folder for temporary files,
// which are removed at the end.
func (j *foundJDK) checkWall(ctx context.Context, area, dir string) Finding {
	note := func(text string) Finding { return Finding{area, "wall", Note, text, ""} }
	if !stack.Supported() {
		return note("--wall was not tried: gasm walks call stacks on x86-64 and aarch64 only")
	}
	ctx, cancel := withLimit(ctx, j.limit())
	defer cancel()
	dir, err := os.MkdirTemp(dir, "wall-")
	if err != nil {
		return note("--wall was not tried: " + err.Error())
	}
	defer os.RemoveAll(dir)
	threads, found, err := tryWall(ctx, j.java(), dir)
	switch {
	case err != nil:
		cause, todo := explain(err)
		return Finding{area, "wall", Note, "--wall does not work: " + cause, todo}
	case found == 0:
		return note(fmt.Sprintf("--wall finds no place where a Java thread waits, in %d threads", threads))
	}
	return Finding{area, "wall", OK, fmt.Sprintf("--wall reads %d threads, %d of which wait in Java code", threads, found),
		""}
}

// tryWall runs a program with the given java command, and records its threads. It returns the number of threads, and
// the number of Java threads for which the recording says in which method they waited.
func tryWall(ctx context.Context, java, dir string) (threads, found int, err error) {
	if err := os.WriteFile(filepath.Join(dir, "KnownStack.class"), knownStack, 0o600); err != nil {
		return 0, 0, err
	}
	p, err := startKnown(java, dir)
	if err != nil {
		return 0, 0, fmt.Errorf("java does not run: %w", err)
	}
	defer p.end()
	var text bytes.Buffer
	o := wallclock.Options{JVMs: shared.NewJVMs(), Out: &text}
	for {
		r, err := wallclock.Start(p.cmd.Process.Pid, o)
		if err == nil {
			pause(ctx, wallTime)
			if result := r.Stop(); result.Read != nil {
				return 0, 0, result.Read
			}
			threads, found = readWall(&text)
			return threads, found, nil
		}
		if pause(ctx, wallPause); ctx.Err() != nil { // in the meantime, the JVM may just be starting
			return 0, 0, err
		}
		text.Reset()
	}
}

// readWall counts all threads, and the Java threads that were blocked with Java frames on their stacks.
func readWall(text *bytes.Buffer) (threads, found int) {
	java := map[int]bool{}
	for r := wall.NewReader(text, "wall"); r.Scan(); {
		switch x := r.Record().(type) {
		case *wall.Thread:
			if !java[x.Number] && x.JavaID != 0 {
				java[x.Number] = true
			}
		case *wall.End:
			threads = int(x.Threads)
		case *wall.Spell:
			if java[x.Thread] && hasJava(r.Stacks(), x.Stack) {
				java[x.Thread] = false
				found++
			}
		}
	}
	return threads, found
}

func hasJava(tree *callstack.Tree, id callstack.ID) bool {
	for f := range tree.Frames(id) {
		if f.Kind.Java() {
			return true
		}
	}
	return false
}
