package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"
)

// pager gives the command that shows a text report on a terminal, by git's
// rules; "" for none.
func (f *reportFlags) pager(out *os.File) string {
	if f.noPager || f.format != "text" || f.file != "" || !term.IsTerminal(int(out.Fd())) {
		return ""
	}
	if t := os.Getenv("TERM"); t == "" || t == "dumb" {
		return "" // less would complain, and page all the same
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

// page writes a report through a pager, or plainly where the pager can't be
// run.
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
		err = nil // who has seen enough quits
	}
	_ = in.Close()
	// How the pager ends is its own affair, unless the shell did not find it.
	if status := new(exec.ExitError); errors.As(cmd.Wait(), &status) && (status.ExitCode() == 126 || status.ExitCode() == 127) {
		return write(s.out)
	}
	return err
}

// pagerProcess makes a process of a pager's command, by a shell where it is
// more than words.
func pagerProcess(command string) *exec.Cmd {
	words := []string{"sh", "-c", command}
	if !strings.ContainsAny(command, "|&;<>()$`\\\"'*?[#~=%\n") {
		words = strings.Fields(command)
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = os.Environ()
	// F: quit at once when all fits on the screen; R: colours; X: what was shown
	// stays when less ends. -c is lv's R.
	for name, value := range map[string]string{"LESS": "FRX", "LV": "-c"} {
		if _, set := os.LookupEnv(name); !set {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	return cmd
}

// keysToPager leaves Ctrl-C and Ctrl-\ to the pager, which may stop a search
// with them: all processes of the terminal's foreground get them, and if gasm
// died, the pager and the shell would both read the keys. They are taken from
// whoever else waits for them, and caught, since what is ignored here the pager
// would be born to ignore too.
func keysToPager() (giveBack func()) {
	keys := make(chan os.Signal, 1)
	signal.Ignore(syscall.SIGINT, syscall.SIGQUIT)
	signal.Notify(keys, syscall.SIGINT, syscall.SIGQUIT)
	return func() { signal.Stop(keys) }
}
