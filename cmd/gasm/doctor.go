package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gasm-profiler/gasm/doctor"
)

func doctorCommand(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what works on this machine, and the command that mends what does not",
		Long: `Try perf, DTrace and each JDK of this machine the way a profile uses them, look
at the settings around them, and say what works, what does not, and the command
that mends it. The exit code is 0 when a profile can be made, else 1.`,
		Example: `  gasm doctor
  gasm doctor --json`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return runDoctor(s, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

func runDoctor(s streams, asJSON bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	opts := doctor.Options{Terminal: term.IsTerminal(int(s.out.Fd()))}
	if opts.Terminal {
		opts.Columns, _, _ = term.GetSize(int(s.out.Fd())) // 0 if unknown
		opts.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
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
		err = doctor.WriteText(s.out, r, doctor.TextOptions{Width: opts.Columns, Color: opts.Color, ASCII: !utf8Locale()})
	}
	if err == nil && !r.CanProfile {
		return &exitError{code: 1} // the report has said why
	}
	return err
}

// sayWait says on a terminal what takes longer than a second. The function that
// it returns takes that away.
func sayWait(stderr *os.File) (done func()) {
	if !term.IsTerminal(int(stderr.Fd())) {
		return func() {}
	}
	said := make(chan struct{})
	timer := time.AfterFunc(time.Second, func() {
		defer close(said)
		_, _ = stderr.WriteString("gasm: trying the samplers and the JDKs ...")
	})
	return func() {
		if !timer.Stop() {
			<-said
			_, _ = stderr.WriteString("\r\x1b[K")
		}
	}
}
