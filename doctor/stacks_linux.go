package doctor

import (
	"bufio"
	"context"
	"debug/elf"
	_ "embed" // for knownStack
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/gasm-profiler/gasm/callstack"
	"github.com/gasm-profiler/gasm/hotspot/shared"
	"github.com/gasm-profiler/gasm/hotspot/stack"
	"github.com/gasm-profiler/gasm/sampler"
	"github.com/gasm-profiler/gasm/sampler/collect"
)

// knownStack is the class of the program whose stacks are judged. It runs on JDK 8 and newer.
//
//go:embed knownstack/KnownStack.class
var knownStack []byte

// checkStacks samples a JVM of this JDK that runs a known program, walks the call stacks of the samples, and judges the
// stacks. dir is a folder for temporary files, which are removed at the end.
func (j *foundJDK) checkStacks(ctx context.Context, area, dir string) Finding {
	if !stack.Supported() {
		return Finding{area, "stacks", Note, "not tried: gasm walks call stacks on x86-64 and aarch64 only, and this is " +
			runtime.GOARCH, ""}
	}
	ctx, cancel := withLimit(ctx, j.limit())
	defer cancel()
	dir, err := os.MkdirTemp(dir, "stacks-")
	if err != nil {
		return Finding{area, "stacks", Note, "not tried: " + err.Error(), ""}
	}
	defer os.RemoveAll(dir)
	t := tryStacks(ctx, j.java(), dir)
	t.noFrameInfo = j.libjvm != "" && !hasFrameInfo(j.libjvm)
	return t.judge(area)
}

// hasFrameInfo reports whether a library has call frame information (.eh_frame), in which gasm finds native callers.
func hasFrameInfo(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Section(".eh_frame") != nil
}

// tryStacks runs the known program. The parameter java is the command for that. It samples the program until there are
// enough stacks.
func tryStacks(ctx context.Context, java, dir string) (t stackTrial) {
	if t.err = os.WriteFile(filepath.Join(dir, "KnownStack.class"), knownStack, 0o600); t.err != nil {
		return t
	}
	p, err := startKnown(java, dir)
	if err != nil {
		t.err = fmt.Errorf("java does not run: %w", err)
		return t
	}
	defer p.end()
	lockedMemory.Lock()
	defer lockedMemory.Unlock()
	n, err := collect.AttachNative(ctx, collect.Options{Frequency: collect.DefaultFrequency, PID: p.cmd.Process.Pid,
		Dir: dir, Walk: stack.NewWalker(shared.NewJVMs()).Walk})
	if err != nil {
		t.err = err
		return t
	}
	t.size = n.StackSize()
	t.err = p.await(ctx, n)
	if err := n.Stop(ctx); t.err == nil {
		t.err = err
	}
	if t.err == nil {
		t.err = t.read(n)
	}
	return t
}

// read judges the stacks of the known thread in a recording that has ended.
func (t *stackTrial) read(n *collect.Native) error {
	stacks, err := os.Open(n.StacksFile())
	if err != nil {
		return err
	}
	defer stacks.Close()
	tree, err := callstack.Read(bufio.NewReader(stacks), "stacks")
	if err != nil {
		return err
	}
	text, err := os.Open(n.TextFile())
	if err != nil {
		return err
	}
	defer text.Close()
	r := sampler.NewPerfReader(bufio.NewReader(text), "samples")
	for found := 0; r.Scan(); {
		if s, ok := r.Record().(*sampler.Sample); ok && s.Thread == knownThread {
			if found++; found > earlyStacks {
				t.add(tree.Frames(s.Stack))
			}
		}
	}
	return r.Err()
}

// A knownProgram is a JVM that runs the known program until its stdin is closed.
type knownProgram struct {
	cmd   *exec.Cmd
	stdin *os.File
	ended chan struct{}
}

func startKnown(java, dir string) (*knownProgram, error) {
	in, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	cmd := exec.Command(java, "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,KnownStack::work", "-cp", dir,
		"KnownStack")
	cmd.Stdin = in
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C on the terminal is for gasm alone
	if err := cmd.Start(); err != nil {
		stdin.Close()
		return nil, err
	}
	p := &knownProgram{cmd, stdin, make(chan struct{})}
	go func() {
		defer close(p.ended)
		_ = cmd.Wait() // how it ends does not matter
	}()
	return p, nil
}

// await waits until there are enough samples of the known thread. It returns an error if the program ends first, or if
// ctx is done.
func (p *knownProgram) await(ctx context.Context, n *collect.Native) error {
	samples := n.Subscribe(1<<12, 20*time.Millisecond).C
	for found := 0; found < earlyStacks+wantedStacks; {
		select {
		case s, ok := <-samples:
			if !ok {
				return errors.New("the sampling ended")
			}
			if s.Thread == knownThread {
				found++
			}
		case <-p.ended:
			return errors.New("java ended at once")
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// end makes the JVM exit by closing its stdin, and waits up to a second. Then it kills what remains of the process
// group.
func (p *knownProgram) end() {
	p.stdin.Close()
	select {
	case <-p.ended:
	case <-time.After(time.Second):
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // the error ESRCH says that no process is left
	<-p.ended
}
