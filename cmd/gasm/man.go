package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCommand returns the hidden command that writes the manual pages. It is for those who build packages.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the manual pages, which packages have, into a folder",
		Hidden: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("man: name a folder for the manual pages")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, c := range documented(cmd.Root()) {
				path := filepath.Join(args[0], manName(c)+".1")
				if err := new(outputFiles).write(path, func(w io.Writer) error { return writeMan(w, c) }); err != nil {
					return fmt.Errorf("writing the manual: %w", err)
				}
			}
			return nil
		},
	}
}

// documented returns the commands that have a manual page: gasm itself, and each command that its help lists.
func documented(root *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{root}
	for _, c := range root.Commands() {
		if !c.Hidden && c.Name() != "help" {
			all = append(all, c)
		}
	}
	return all
}

// manName returns the name of a command's page, for example gasm-profile.
func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// writeMan writes a command's manual page, in the language of troff's man macros. The page has no date, so that the
// same gasm always writes the same page.
func writeMan(w io.Writer, c *cobra.Command) error {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" %s \"User Commands\"\n", manQuoted(strings.ToUpper(manName(c))),
		manQuoted("gasm "+version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", manText(manName(c)), manText(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n%s\n", manText(synopsis(c)))
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", manParagraphs(c.Long, c.Short))
	if c == c.Root() {
		manCommands(&b, c)
	}
	manFlags(&b, c)
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", manText(c.Example))
	}
	if c == c.Root() {
		fmt.Fprintf(&b, ".SH EXIT STATUS\n%s\n",
			manText("0 success; the command's own code if it failed; 130 after Ctrl-C, except that attach "+
				"without --length then ends with 0; 2 wrong usage; 3 if diff --fail-above finds something slower; 1 any other failure."))
	}
	b.WriteString(".SH SEE ALSO\n")
	var others []string
	for _, other := range documented(c.Root()) {
		if other != c {
			others = append(others, fmt.Sprintf(`\fB%s\fP(1)`, manText(manName(other))))
		}
	}
	b.WriteString(strings.Join(others, ",\n") + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// synopsis returns a command's usage line.
func synopsis(c *cobra.Command) string {
	if c == c.Root() {
		return "gasm COMMAND [ARGUMENT ...]"
	}
	return c.Root().Name() + " " + c.Use
}

// manCommands writes the list of commands, which is only in the page of gasm itself.
func manCommands(b *strings.Builder, root *cobra.Command) {
	b.WriteString(".SH COMMANDS\n")
	for _, c := range documented(root)[1:] {
		fmt.Fprintf(b, ".TP\n\\fB%s\\fP(1)\n%s\n", manText(manName(c)), manText(c.Short))
	}
}

// manFlags lists a command's flags, each with the name of its value and its default.
func manFlags(b *strings.Builder, c *cobra.Command) {
	c.InitDefaultHelpFlag()
	b.WriteString(".SH OPTIONS\n")
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, text := pflag.UnquoteUsage(f)
		name := `\fB` + manText("--"+f.Name) + `\fP`
		if f.Shorthand != "" {
			name = `\fB` + manText("-"+f.Shorthand) + `\fP, ` + name
		}
		if value != "" {
			name += ` \fI` + manText(value) + `\fP`
		}
		switch f.DefValue {
		case "", "0", "0s", "false", "[]":
		default: // if the usage text explains the default itself, DefValue is one of the values above
			text += " (default: " + f.DefValue + ")"
		}
		fmt.Fprintf(b, ".TP\n%s\n%s\n", name, manText(text))
	})
}

// manParagraphs escapes a text for troff and puts the request .PP between its paragraphs. If the text is empty, it uses
// the parameter fallback instead.
func manParagraphs(text, fallback string) string {
	if text == "" {
		text = fallback
	}
	return strings.ReplaceAll(manText(text), "\n\n", "\n.PP\n")
}

// manText escapes a text for troff, so that backslashes and hyphens are shown as they are, and no line is taken for a
// request.
func manText(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// manQuoted returns a text in double quotes, so that it is a single argument of a troff request.
func manQuoted(text string) string { return `"` + strings.ReplaceAll(manText(text), `"`, `\(dq`) + `"` }
