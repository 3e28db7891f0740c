// Command gasm shows where a Java program's CPU time goes, instruction by
// instruction, in the machine code that HotSpot made of it.
//
//	gasm profile -- java -jar benchmarks.jar      launch, sample, report
//	gasm attach 4711                              the same of a JVM that runs already
//	gasm report samples.txt asm.log               the same report from saved files
//	gasm report DIR                               the same from a saved capture
//	gasm events DIR                               what happened meanwhile: pauses of the collector, safepoints
//	gasm diff A B                                 what changed between two captures or JSON reports
//	gasm doctor                                   what works on this machine, and what mends the rest
//
// Exit codes: 0 done; the command's own code when it failed; 130 after Ctrl-C, which is how
// attach without --length ends as a rule, with 0; 2 wrong usage; 3 when diff --fail-above
// finds something slower; 1 anything else.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/record"
)

// collectLater lets the heap grow to 36 MB, instead of 4 MB, before it is collected for
// the first time. Most reports are done by then. The cleanup of an object that nobody
// holds runs after that first collection, and goes back to Go's default.
func collectLater() {
	debug.SetGCPercent(800)
	type mark struct{ _ *int } // objects without a pointer may share their memory
	runtime.AddCleanup(new(mark), func(percent int) { debug.SetGCPercent(percent) }, 100)
}

func main() {
	if code, held := record.Hold(); held {
		os.Exit(code)
	}
	beApart()
	if os.Getenv("GOGC") == "" {
		collectLater()
	}
	leave(gasm(streams{os.Stdin, os.Stdout, os.Stderr}, os.Args[1:]))
}

// streams are what gasm reads and writes. A profiled command gets them as they are, so
// they are files.
type streams struct{ in, out, err *os.File }

// An exitError ends gasm with a code and, where it has one, a message.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage is the error of a command line that makes no sense.
func usage(format string, args ...any) error {
	return &exitError{2, fmt.Errorf(format, args...)}
}

// gasm runs one command line and gives the exit code.
func gasm(s streams, args []string) int {
	root := rootCommand(s)
	root.SetArgs(args)
	cmd, err := root.ExecuteC()
	if err == nil {
		return 0
	}
	code := 1
	var exit *exitError
	if errors.As(err, &exit) {
		code, err = exit.code, exit.err
	}
	if err != nil {
		say(s.err, "gasm: %v", err)
	}
	if code == 2 && err != nil { // a child has said it itself
		say(s.err, "Try '%s --help'.", cmd.CommandPath())
	}
	return code
}

// say writes one line of a message for the user, with its arguments escaped.
func say(w io.Writer, format string, args ...any) { fmt.Fprintln(w, layout.Message(format, args...)) }

func rootCommand(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "gasm",
		Short: "an assembly-level profiler for the JVM",
		Long: `gasm shows where a Java program's CPU time goes, instruction by instruction, in
the machine code that HotSpot made of it. It needs no hsdis, no debug JDK and no
change to the program.`,
		Example: `  gasm profile -- java -jar benchmarks.jar
  gasm profile -o capture -- mvn -q test
  gasm attach --length 10s 4711
  gasm report capture
  gasm diff before after
  gasm doctor`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetUsageTemplate(usageTemplate(root.UsageTemplate()))
	root.SetVersionTemplate("gasm {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(profileCommand(s), attachCommand(s), reportCommand(s), eventsCommand(s), diffCommand(s), doctorCommand(s), completionCommand(s), manCommand(), &cobra.Command{
		Use:   "version",
		Short: "Print gasm's version",
		Args:  noArguments,
		Run:   func(*cobra.Command, []string) { say(s.out, "gasm %s", version) },
	})
	root.SetHelpCommand(&cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(strings.Join(args, " "))
			}
			cmd.InitDefaultHelpFlag()
			cmd.InitDefaultVersionFlag()
			return cmd.Help()
		},
	})
	completeFlags(root)
	return root
}

// usageTemplate says of gasm itself what it needs, a command, where cobra says what it takes: "gasm [flags]".
func usageTemplate(cobras string) string {
	return strings.NewReplacer(
		`{{if .Runnable}}`, `{{if .HasParent}}`,
		`{{.CommandPath}} [command]{{end}}`, `{{.CommandPath}} COMMAND [flags] [ARGUMENT ...]{{end}}`,
		`Available Commands:`, `Commands:`,
		`[command] --help`, `COMMAND --help`,
	).Replace(cobras)
}

func unknownCommand(name string) error {
	return usage("unknown command %q: the commands are profile, attach, report, events, diff, doctor, completion and version", name)
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s takes no arguments", cmd.Name())
	}
	return nil
}
