// Package man writes the manual pages that archives and packages of gasm have. Each says what a command's help says.
package man

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Documented returns the commands that have a manual page: gasm itself, and each command that its help lists.
func Documented(root *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{root}
	for _, c := range root.Commands() {
		if !c.Hidden && c.Name() != "help" {
			all = append(all, c)
		}
	}
	return all
}

// Name returns the name of a command's page, for example gasm-profile.
func Name(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// Write writes a command's manual page, in the language of troff's man macros. version is gasm's. The page has no date,
// so that the same gasm always writes the same page.
func Write(w io.Writer, c *cobra.Command, version string) error {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" %s \"User Commands\"\n", quoted(strings.ToUpper(Name(c))),
		quoted("gasm "+version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escaped(Name(c)), escaped(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n%s\n", escaped(synopsis(c)))
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", paragraphs(c.Long, c.Short))
	if c == c.Root() {
		commands(&b, c)
	}
	flags(&b, c)
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", escaped(c.Example))
	}
	if c == c.Root() {
		fmt.Fprintf(&b, ".SH EXIT STATUS\n%s\n",
			escaped("0 success; the command's own code if it failed; 130 after Ctrl-C, except that attach "+
				"without --length then ends with 0; 2 wrong usage; 3 if diff --fail-above finds something slower; 1 any other failure."))
	}
	b.WriteString(".SH SEE ALSO\n")
	var others []string
	for _, other := range Documented(c.Root()) {
		if other != c {
			others = append(others, fmt.Sprintf(`\fB%s\fP(1)`, escaped(Name(other))))
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

// commands writes the list of commands, which is only in the page of gasm itself.
func commands(b *strings.Builder, root *cobra.Command) {
	b.WriteString(".SH COMMANDS\n")
	for _, c := range Documented(root)[1:] {
		fmt.Fprintf(b, ".TP\n\\fB%s\\fP(1)\n%s\n", escaped(Name(c)), escaped(c.Short))
	}
}

// flags lists a command's flags, each with the name of its value and its default.
func flags(b *strings.Builder, c *cobra.Command) {
	c.InitDefaultHelpFlag()
	b.WriteString(".SH OPTIONS\n")
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, text := pflag.UnquoteUsage(f)
		name := `\fB` + escaped("--"+f.Name) + `\fP`
		if f.Shorthand != "" {
			name = `\fB` + escaped("-"+f.Shorthand) + `\fP, ` + name
		}
		if value != "" {
			name += ` \fI` + escaped(value) + `\fP`
		}
		switch f.DefValue {
		case "", "0", "0s", "false", "[]":
		default: // if the usage text explains the default itself, DefValue is one of the values above
			text += " (default: " + f.DefValue + ")"
		}
		fmt.Fprintf(b, ".TP\n%s\n%s\n", name, escaped(text))
	})
}

// paragraphs escapes a text for troff and puts the request .PP between its paragraphs. If the text is empty, it uses
// the parameter fallback instead.
func paragraphs(text, fallback string) string {
	if text == "" {
		text = fallback
	}
	return strings.ReplaceAll(escaped(text), "\n\n", "\n.PP\n")
}

// escaped escapes a text for troff, so that backslashes and hyphens are shown as they are, and no line is taken for a
// request.
func escaped(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// quoted returns a text in double quotes, so that it is a single argument of a troff request.
func quoted(text string) string { return `"` + strings.ReplaceAll(escaped(text), `"`, `\(dq`) + `"` }
