package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gasm-profiler/gasm/printassembly"
)

// makeTemp makes the folder that the checks work in, and judges the one that
// captures go to. Where that can't be written another one is taken.
func makeTemp() (dir string, c Finding, err error) {
	var first error
	for _, parent := range []string{os.TempDir(), "/tmp", "/var/tmp", "."} {
		dir, err = os.MkdirTemp(parent, "gasm-doctor-")
		if err == nil {
			if err = fill(dir); err == nil {
				return dir, checkTemp(os.TempDir(), first), nil
			}
			os.RemoveAll(dir)
		}
		if first == nil {
			first = err
		}
	}
	return "", c, fmt.Errorf("no folder for temporary files: %w", first)
}

// fill finds out that a folder has no room for what the checks write, a few MB.
func fill(dir string) error {
	path := filepath.Join(dir, "room")
	defer os.Remove(path)
	return os.WriteFile(path, make([]byte, 8<<20), 0o600)
}

// roomy is what a capture of a program that compiles much needs.
const roomy = 1 << 30

// checkTemp judges the folder; err is why nothing can be written there.
func checkTemp(dir string, err error) Finding {
	c := Finding{Area: "environment", Name: "temp folder", Status: OK}
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err
		}
		c.Status, c.Text, c.Mend = Problem, fmt.Sprintf("%s can't be written: %s", dir, firstLine(err.Error())), "export TMPDIR=/var/tmp"
		return c
	}
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		c.Text = fmt.Sprintf("%s, room unknown: %v", dir, err)
		return c
	}
	free := stat.Bavail * uint64(stat.Bsize)
	c.Text = fmt.Sprintf("%s, %s free", dir, size(free))
	const tmpfs = 0x01021994 // of statfs(2) on Linux
	if runtime.GOOS == "linux" && uint32(stat.Type) == tmpfs {
		c.Text += ", in memory (tmpfs)"
	}
	if free < roomy {
		c.Status, c.Mend = Note, "TMPDIR=/var/tmp gasm profile ..."
		c.Text += ": a program that compiles much fills hundreds of MB"
	}
	return c
}

// size writes bytes as people do: "240 MB", "78.9 GB".
func size(n uint64) string {
	switch {
	case n >= 1<<30:
		return strconv.FormatFloat(float64(n)/(1<<30), 'f', 1, 64) + " GB"
	case n >= 10<<20:
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%d kB", n>>10)
}

// checkJavaOptions looks for options in the environment that take away what a
// profile sets. It sets JAVA_TOOL_OPTIONS, behind what is there; the others
// come later and win.
func checkJavaOptions() Finding {
	c := Finding{Area: "environment", Name: "java options", Status: OK, Text: "none in the environment"}
	var set []string
	for _, name := range []string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"} {
		value := os.Getenv(name)
		if value == "" {
			continue
		}
		set = append(set, name)
		if option := printassembly.Overrides(value); option != "" && name != "JAVA_TOOL_OPTIONS" {
			c.Status, c.Mend = Problem, "unset "+name
			c.Text = fmt.Sprintf("%s has %s, which takes the JVM's log away from gasm", name, option)
			return c
		}
	}
	if len(set) > 0 {
		c.Text = strings.Join(set, ", ") + verb(len(set), " is set and does", " are set and do") + " no harm"
	}
	return c
}

// tryJavaOptions runs java without the variables where none of the JDKs runs
// with them.
func tryJavaOptions(ctx context.Context, jdks []jdkResult, c Finding) Finding {
	var without, set []string
	for _, name := range []string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"} {
		if os.Getenv(name) != "" {
			set = append(set, name)
			without = append(without, name+"=")
		}
	}
	if len(set) == 0 || slices.ContainsFunc(jdks, func(j jdkResult) bool { return j.works }) {
		return c
	}
	for _, j := range jdks {
		java := filepath.Join(j.home, "bin", "java")
		if _, _, err := run(ctx, nil, java, "-version"); err == nil {
			continue
		}
		if _, _, err := run(ctx, without, java, "-version"); err == nil {
			c.Status, c.Mend = Problem, "unset "+strings.Join(set, " ")
			c.Text = strings.Join(set, " and ") + verb(len(set), " keeps", " keep") + " java from starting"
			return c
		}
	}
	return c
}

// checkLocale says whether reports are drawn with box-drawing characters.
func checkLocale() Finding {
	c := Finding{"environment", "locale", OK, "none set: reports are drawn in UTF-8", ""}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		value := os.Getenv(name)
		if value == "" {
			continue
		}
		c.Text = name + "=" + value
		if lower := strings.ToLower(value); !strings.Contains(lower, "utf-8") && !strings.Contains(lower, "utf8") {
			c.Status, c.Mend = Note, "export "+name+"=C.UTF-8"
			c.Text += " is not UTF-8: reports are drawn in ASCII"
		}
		return c
	}
	return c
}

// comfortable is the width that annotated code needs.
const comfortable = 100

func checkTerminal(o Options) Finding {
	c := Finding{Area: "environment", Name: "terminal", Status: OK}
	if !o.Terminal {
		c.Text = "none: reports are not cut and have no colour"
		return c
	}
	c.Text = "of unknown width"
	if o.Columns > 0 {
		c.Text = fmt.Sprintf("%d columns", o.Columns)
	}
	switch {
	case o.Color:
		c.Text += ", colour"
	case os.Getenv("NO_COLOR") != "":
		c.Text += ", no colour (NO_COLOR is set)"
	case os.Getenv("TERM") == "dumb":
		c.Text += ", no colour (TERM is dumb)"
	}
	if 0 < o.Columns && o.Columns < comfortable {
		c.Status = Note
		c.Text += fmt.Sprintf(": long lines are cut; reports look best in %d and more", comfortable)
	}
	return c
}
