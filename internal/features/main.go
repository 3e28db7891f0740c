// Features tries gasm's features with JDKs of this machine, and prints the results as a table. It is for machines on
// which the usual tests can't run, such as the emulated ones of scripts/arm64.sh:
//
//	features -gasm bin/gasm -classes DIR [-seconds 10] [-only profile,attach] [-options '-XX:…'] JAVA_HOME...
//
// DIR has the classes of testdata/programs/Features.java and Shares.java. A cell of the table is "ok" and what was
// measured, or "FAILED" and why. The exit code is 1 if anything has failed.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// errNotThere is the error for a feature that a JDK or a machine does not have.
var errNotThere = errors.New("-")

// A feature is a row of the table.
type feature struct {
	name string
	try  func(t *trial) (measured string, err error)
}

// features are the features in the order in which they are tried. Those from "windows" to "page" look at what "profile"
// has recorded, and those after "diff" use the JVM that "attach" has started.
var features = []feature{
	{"profile", (*trial).profile},
	{"windows", (*trial).windows},
	{"code", (*trial).code},
	{"vector code", (*trial).vectorCode},
	{"log events", (*trial).logEvents},
	{"probe", (*trial).probe},
	{"stacks", (*trial).stacks},
	{"page", (*trial).page},
	{"attach", (*trial).attach},
	{"diff", (*trial).diff},
	{"all threads", (*trial).allThreads},
	{"wall", (*trial).wall},
	{"top", (*trial).top},
	{"watch", (*trial).watch},
	{"usdt", (*trial).usdt},
	{"probe-sdt", (*trial).probeSDT},
	{"jfr", (*trial).jfr},
}

func main() {
	gasm := flag.String("gasm", "gasm", "the gasm that is tried")
	classes := flag.String("classes", ".", "the `folder` with the classes of Features.java and Shares.java")
	seconds := flag.Float64("seconds", 10, "how long the program is measured")
	warmup := flag.Float64("warmup", 10, "how long the program warms up, in seconds")
	only := flag.String("only", "", "try only these features, and those that they need, separated by commas")
	options := flag.String("options", "", "options for the JVMs, separated by blanks")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	failed := false
	var rows [][]string
	for _, home := range flag.Args() {
		t := &trial{gasm: *gasm, classes: *classes, home: home, seconds: *seconds, warmup: *warmup,
			options: strings.Fields(*options)}
		row, ok := t.all(*only)
		rows = append(rows, row)
		failed = failed || !ok
	}
	printTable(rows)
	if failed {
		os.Exit(1)
	}
}

// all tries the features with one JDK, and returns a column of the table. Each result is also printed at once.
func (t *trial) all(only string) (column []string, ok bool) {
	dir, err := os.MkdirTemp("", "features-")
	if err != nil {
		return []string{t.home, err.Error()}, false
	}
	defer os.RemoveAll(dir)
	defer t.end()
	t.dir = dir
	column, ok = []string{filepath.Base(t.home)}, true
	for _, f := range features {
		if only != "" && !slices.Contains(strings.Split(only, ","), f.name) {
			column = append(column, "")
			continue
		}
		begin := time.Now()
		measured, err := f.try(t)
		cell := "ok " + measured
		switch {
		case errors.Is(err, errNotThere):
			cell = "-"
		case err != nil:
			cell, ok = "FAILED "+err.Error(), false
		}
		fmt.Printf("%s: %s: %s (%.0f s)\n", column[0], f.name, cell, time.Since(begin).Seconds())
		cell, _, _ = strings.Cut(cell, "\n")
		column = append(column, cell)
	}
	return column, ok
}

// printTable prints the columns as a table in Markdown.
func printTable(columns [][]string) {
	var text bytes.Buffer
	w := tabwriter.NewWriter(&text, 0, 0, 1, ' ', tabwriter.Debug)
	row := func(name string, at int) {
		fmt.Fprintf(w, "\t %s\t", name)
		for _, c := range columns {
			cell := ""
			if at < len(c) {
				cell = c[at]
			}
			fmt.Fprintf(w, " %s\t", cell)
		}
		fmt.Fprintln(w)
	}
	row("", 0)
	for i, f := range features {
		row(f.name, i+1)
	}
	w.Flush()
	fmt.Print("\n", text.String())
}
