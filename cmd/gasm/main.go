// Command gasm shows where a Java program's CPU time goes, instruction by instruction, in the machine code that HotSpot
// compiled it to.
//
//	gasm profile -- java -jar benchmarks.jar      launch, sample, report
//	gasm attach 4711                              the same for a running JVM
//	gasm top 4711                                 what is hot in it now, live in the terminal
//	gasm watch --to pyroscope+https://host:4040   profile all JVMs continuously, for a server
//	gasm stacks 4711                              what each of its threads does now, as jstack prints it
//	gasm report samples.txt asm.log               the same report from saved files
//	gasm report DIR                               the same from a saved capture
//	gasm events DIR                               what else happened: pauses of the collector, safepoints
//	gasm diff A B                                 what changed between two captures or JSON reports
//	gasm doctor                                   what works on this machine, and what fixes the rest
//
// Exit codes: 0 success; the command's own code if it failed; 130 after Ctrl-C, except that
// attach without --length then ends with 0; 2 wrong usage; 3 if diff --fail-above finds
// something slower; 1 any other failure.
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

// Percentages for the garbage collector (debug.SetGCPercent): the default of Go, that of a command that runs for long
// and should take little CPU time, and that until the first collection.
const collectUsually, collectSeldom, collectFirst = 100, 200, 800

// collectLater raises the garbage collector's target percentage. So the heap grows to 36 MB, instead of 4 MB, before
// the first collection. Most reports are complete before that. The first collection runs the cleanup of an unreachable
// object, and this cleanup sets the percentage to Go's default, unless somebody has changed it meanwhile.
func collectLater() {
	debug.SetGCPercent(collectFirst)
	type mark struct{ _ *int } // with a pointer, because small objects without pointers may share their memory
	runtime.AddCleanup(new(mark), func(percent int) {
		if before := debug.SetGCPercent(percent); before != collectFirst {
			debug.SetGCPercent(before)
		}
	}, collectUsually)
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

// streams are gasm's standard streams. They are files, because a profiled command inherits
// them.
type streams struct{ in, out, err *os.File }

// An exitError ends gasm with an exit code. err is the message, or nil for none.
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

// usage returns the error for a command line that makes no sense.
func usage(format string, args ...any) error {
	return &exitError{2, fmt.Errorf(format, args...)}
}

// gasm runs one command line and returns the exit code.
func gasm(s streams, args []string) int {
	root := rootCommand(s)
	root.SetArgs(joinStacks(args))
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
	if code == 2 && err != nil { // without err, a child has printed the message itself
		say(s.err, "Try '%s --help'.", cmd.CommandPath())
	}
	return code
}

// say writes a message for the user as a line. It escapes the message's arguments.
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
  gasm top 4711
  gasm stacks 4711
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
	root.AddCommand(profileCommand(s), attachCommand(s), topCommand(s), watchCommand(s), stacksCommand(s),
		reportCommand(s), eventsCommand(s), diffCommand(s), doctorCommand(s), completionCommand(s), manCommand(),
		&cobra.Command{
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

// usageTemplate changes cobra's template so that the usage line of gasm itself begins with "gasm COMMAND" instead of
// "gasm [flags]".
func usageTemplate(cobras string) string {
	return strings.NewReplacer(
		`{{if .Runnable}}`, `{{if .HasParent}}`,
		`{{.CommandPath}} [command]{{end}}`, `{{.CommandPath}} COMMAND [flags] [ARGUMENT ...]{{end}}`,
		`Available Commands:`, `Commands:`,
		`[command] --help`, `COMMAND --help`,
	).Replace(cobras)
}

func unknownCommand(name string) error {
	return usage("unknown command %q: the commands are profile, attach, top, watch, stacks, report, events, diff, doctor, completion and version", name)
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s takes no arguments", cmd.Name())
	}
	return nil
}
