package main

import (
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gasm-profiler/gasm/event"
	"github.com/gasm-profiler/gasm/hotspot/attach"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/record"
	"github.com/gasm-profiler/gasm/report"
)

// choices lists the possible values of the flags that accept only a few values.
var choices = map[string][]string{
	"show-counts": {"percent", "raw", "norm"},
	"sort":        {"self", "total"},
	"comments":    {"folded", "full", "none"},
	"color":       {"auto", "always", "never"},
	"format":      report.FormatNames(),
	"sites":       event.SiteRules,
	"what":        {"samples", "wall"},
	"sampler":     record.SamplerNames(),
	"code":        {string(record.CodeAuto), string(record.CodeCopy), string(record.CodePrint)},
	"window-from": {string(record.FromStdout), string(record.FromStderr), string(record.FromBoth)},
	"events-from": record.EventSources,
	"stacks":      record.StackChoices(),
	"view":        viewNames,
}

// otherFormats lists the values of --format for the commands that have this flag, but do not write a report.
var otherFormats = map[string][]string{"events": report.EventFormatNames(),
	"diff": {"text", "json", "html", "markdown"}, "stacks": stackFormats}

// paths lists the placeholders in usage texts that stand for files or folders, such as FILE in "--report FILE". Shells
// complete such values by themselves. The placeholder "commas" of --before and --after stands for a list of captures.
var paths = []string{"FILE", "DIR", "PATH", "commas"}

// shells maps the name of each supported shell to the function that prints its completion script.
var shells = map[string]func(root *cobra.Command, s streams) error{
	"bash": func(root *cobra.Command, s streams) error { return root.GenBashCompletionV2(s.out, true) },
	"zsh":  func(root *cobra.Command, s streams) error { return root.GenZshCompletion(s.out) },
	"fish": func(root *cobra.Command, s streams) error { return root.GenFishCompletion(s.out, true) },
}

func completionCommand(s streams) *cobra.Command {
	names := slices.Sorted(maps.Keys(shells))
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a script with which a shell completes gasm's commands and flags",
		Long: `Print a script with which a shell completes gasm's commands, flags and their
values. The packages contain it. Without a package, put it where the shell looks
for it, and open a new shell.`,
		Example: `  gasm completion bash >~/.local/share/bash-completion/completions/gasm
  gasm completion zsh >"${fpath[1]}/_gasm"
  gasm completion fish >~/.config/fish/completions/gasm.fish`,
		ValidArgs:             names,
		DisableFlagsInUseLine: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || shells[args[0]] == nil {
				return usage("completion: name one shell: %s", layout.Or(names))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return shells[args[0]](cmd.Root(), s) },
	}
}

// completeFlags makes shells complete the values of all commands' flags.
func completeFlags(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			value, _ := pflag.UnquoteUsage(f)
			if slices.Contains(paths, value) || f.Value.Type() == "bool" {
				return
			}
			values := choices[f.Name]
			if others := otherFormats[cmd.Name()]; f.Name == "format" && others != nil {
				values = others
			}
			// For a number or a pattern there is nothing to suggest, so values is empty.
			complete := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
			_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // the flag exists, and is registered once
		})
	}
}

// completeJVMs returns a function that suggests the process ids of the JVMs that gasm can attach to. Each suggestion is
// described by the JVM's main class or jar.
func completeJVMs(s streams) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		if mayNotEnd() {
			_ = runApart(s) // the child prints the suggestions
			leave(0)
		}
		jvms, err := attach.List(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var found []string
		for i := range jvms {
			if jvms[i].Unreadable == nil {
				found = append(found, cobra.CompletionWithDesc(strconv.Itoa(jvms[i].PID), layout.Escape(jvms[i].Main)))
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}
