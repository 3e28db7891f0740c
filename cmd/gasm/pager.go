package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/gasm-profiler/gasm/internal/layout"
)

// pager returns the command that shows a text report on a terminal, or "" for none. The
// rules are the same as git's: $GASM_PAGER, else $PAGER, else less.
func (f *reportFlags) pager(out *os.File) string {
	if f.noPager || f.format != "text" || f.file != "" || !layout.IsTerminal(out) {
		return ""
	}
	if t := os.Getenv("TERM"); t == "" || t == "dumb" {
		return "" // on such a terminal less complains, and can't page
	}
	command := "less"
	for _, name := range []string{"GASM_PAGER", "PAGER"} {
		if value, set := os.LookupEnv(name); set {
			command = strings.TrimSpace(value)
			break
		}
	}
	if command == "cat" {
		return ""
	}
	return command
}

// page writes a report through a pager, or directly if the pager can't be run.
func page(s streams, command string, write func(io.Writer) error) error {
	cmd := pagerProcess(command)
	cmd.Stdout, cmd.Stderr = s.out, s.err
	in, err := cmd.StdinPipe()
	if err != nil {
		return write(s.out)
	}
	defer keysToPager()()
	if err := cmd.Start(); err != nil {
		return write(s.out)
	}
	err = write(in)
	if errors.Is(err, syscall.EPIPE) {
		err = nil // the user has seen enough and quit
	}
	_ = in.Close()
	// The pager's exit code does not matter, unless it says that the shell did not find the pager.
	if status := new(exec.ExitError); errors.As(cmd.Wait(), &status) &&
		(status.ExitCode() == 126 || status.ExitCode() == 127) {
		return write(s.out)
	}
	return err
}

// pagerProcess returns the process for a pager's command. A shell runs the command if it is
// more than a list of words.
func pagerProcess(command string) *exec.Cmd {
	words := []string{"sh", "-c", command}
	if !strings.ContainsAny(command, "|&;<>()$`\\\"'*?[#~=%\n") {
		words = strings.Fields(command)
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = os.Environ()
	// For less, F quits at once if everything fits on the screen, R shows colours, S does
	// not break long lines, and X leaves the text on the screen. For lv, -c shows colours.
	for name, value := range map[string]string{"LESS": "FRSX", "LV": "-c"} {
		if _, set := os.LookupEnv(name); !set {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	return cmd
}

// keysToPager leaves Ctrl-C and Ctrl-\ to the pager, which stops a search with them. All processes in the terminal's
// foreground get these signals. If they ended gasm, the pager and the shell would both read the keyboard. So
// keysToPager takes both signals away from all other receivers in gasm, and catches them itself. Just ignoring them
// would not do, because the pager would then ignore them, too.
func keysToPager() (giveBack func()) {
	keys := make(chan os.Signal, 1)
	signal.Ignore(syscall.SIGINT, syscall.SIGQUIT)
	signal.Notify(keys, syscall.SIGINT, syscall.SIGQUIT)
	return func() { signal.Stop(keys) }
}
