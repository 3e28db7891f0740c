package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/gasm-profiler/gasm/doctor"
	"github.com/gasm-profiler/gasm/internal/layout"
)

func doctorCommand(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what works on this machine, and the command that fixes what does not",
		Long: `Try the samplers and each JDK of this machine in the way in which a profile uses
them, look at the settings that matter to them, and say what works, what does not,
and the command that fixes it. The exit code is 0 if a profile can be made, else 1.`,
		Example: `  gasm doctor
  gasm doctor --json`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			if mayNotEnd() { // doctor also looks into JVMs, for events that a killed gasm process left on
				return runApart(s)
			}
			return runDoctor(s, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

func runDoctor(s streams, asJSON bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	look := layout.LookOf(s.out)
	opts := doctor.Options{Terminal: layout.IsTerminal(s.out), Columns: look.Width, Color: look.Color}
	wait := sayWait(s.err)
	r, err := doctor.Check(ctx, opts)
	wait()
	if err != nil {
		if ctx.Err() != nil {
			return &exitError{code: 130}
		}
		return err
	}
	if asJSON {
		err = doctor.WriteJSON(s.out, r)
	} else {
		err = doctor.WriteText(s.out, r, look)
	}
	if err == nil && !r.CanProfile {
		return &exitError{code: 1} // the report has said why
	}
	return err
}

// sayWait says on a terminal that the samplers and JDKs are being tried, because that takes some time. It returns a
// function that removes this text.
func sayWait(stderr *os.File) (done func()) {
	if !layout.IsTerminal(stderr) {
		return func() {}
	}
	_, _ = stderr.WriteString("gasm: trying the samplers and the JDKs ...")
	return func() { _, _ = stderr.WriteString("\r\x1b[K") }
}
