package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/hotspot/threaddump"
	"github.com/gasm-profiler/gasm/internal/layout"
)

// stacksFlags holds the values of the flags of gasm stacks.
type stacksFlags struct {
	format     string
	group, all bool
}

// stackFormats are the formats of gasm stacks.
var stackFormats = []string{"text", "json"}

func stacksCommand(s streams) *cobra.Command {
	var f stacksFlags
	cmd := &cobra.Command{
		Use:   "stacks [flags] PID|NAME",
		Short: "Print the stacks of all threads of a running JVM, even if it hangs",
		Long: `Print what each thread of a running JVM does now, as jstack does: its stack with
locks, its state, and what it waits for in the kernel; and deadlocks. The JVM takes
no part in it: there is no safepoint, no signal and no stop, so it works if the JVM
hangs. NAME is a part of the main class or of the jar's name. Linux only.`,
		Example: `  gasm stacks 4711
  gasm stacks --group org.acme.Server
  gasm stacks --format json 4711`,
		DisableFlagsInUseLine: true,
		ValidArgsFunction:     completeJVMs(s),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("stacks: name one JVM: `gasm attach` lists those that run")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := oneOf("format", f.format, stackFormats...); err != nil {
				return err
			}
			if mayNotEnd() {
				return runApart(s)
			}
			return f.run(s, args[0])
		},
	}
	cmd.Flags().BoolVar(&f.all, "all", false, "in the text, show stubs and the native frames below Java methods, too")
	cmd.Flags().StringVar(&f.format, "format", "text", "`format` of the stacks: "+layout.Or(stackFormats))
	cmd.Flags().BoolVar(&f.group, "group", false, "in the text, show threads with the same stack once, with their number")
	return cmd
}

// run reads the stacks of the JVM that the user names, and writes them.
func (f *stacksFlags) run(s streams, name string) error {
	jvms, err := attach.Choose(context.Background(), []string{name})
	if err != nil {
		return err
	}
	if apart == nil && anyOfOther(jvms) {
		return runApart(s)
	}
	dump, err := threaddump.Read(context.Background(), jvms[0].PID)
	if err != nil {
		return fmt.Errorf("JVM %s: %w", &jvms[0], err)
	}
	return f.write(s.out, dump, layout.LookOf(s.out))
}

func (f *stacksFlags) write(w io.Writer, dump *threaddump.Dump, look layout.Look) error {
	if f.format == "json" {
		return threaddump.WriteJSON(w, dump)
	}
	return threaddump.WriteText(w, dump, threaddump.TextOptions{Look: look, Group: f.group, All: f.all})
}
