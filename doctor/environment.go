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

	"github.com/gasm-profiler/gasm/internal/jdk"
	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/record"
)

// makeTemp creates the folder for the temporary files of the checks. The folder is in $TMPDIR or, if nothing can be
// written there, elsewhere. The finding says whether $TMPDIR is suitable for `gasm profile`, which creates its captures
// there.
func makeTemp() (dir string, temp Finding, err error) {
	var first error // why nothing can be written in $TMPDIR
	for _, parent := range []string{os.TempDir(), "/tmp", "/var/tmp", "."} {
		dir, err = os.MkdirTemp(parent, "gasm-doctor-")
		if err == nil {
			if err = tryRoom(dir); err == nil {
				return dir, checkTemp(os.TempDir(), first), nil
			}
			os.RemoveAll(dir)
		}
		if first == nil {
			first = err
		}
	}
	return "", temp, fmt.Errorf("no folder for temporary files can be written: %w; set TMPDIR to one that can", first)
}

// tryRoom returns an error if a folder has no room for the 8 MiB that the checks may write.
func tryRoom(dir string) error {
	path := filepath.Join(dir, "room")
	defer os.Remove(path)
	return os.WriteFile(path, make([]byte, 8<<20), 0o600)
}

// roomForCapture is an upper bound for the size of a capture of a program with many compilations, in bytes.
const roomForCapture = 1 << 30

// checkTemp judges the folder for captures. refused says why nothing can be written to it; it is nil if the folder can
// be written to.
func checkTemp(dir string, refused error) Finding {
	c := Finding{Area: "environment", Name: "temp folder", Status: OK}
	if refused != nil {
		var at *fs.PathError
		if errors.As(refused, &at) {
			refused = at.Err // leave out the error's path, because that file no longer exists
		}
		c.Status, c.Text, c.Fix = Problem, fmt.Sprintf("%s can't be written: %s", dir,
			firstLine(refused.Error())), "export TMPDIR=/var/tmp"
		return c
	}
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		c.Text = fmt.Sprintf("%s, room unknown: %v", dir, err)
		return c
	}
	free := stat.Bavail * uint64(stat.Bsize)
	c.Text = fmt.Sprintf("%s, %s free", dir, sizeText(free))
	const tmpfs = 0x01021994 // TMPFS_MAGIC of statfs(2)
	if runtime.GOOS == "linux" && uint32(stat.Type) == tmpfs {
		c.Text += ", in memory (tmpfs)"
	}
	if free < roomForCapture {
		c.Status, c.Fix = Note, "TMPDIR=/var/tmp gasm profile ..."
		c.Text += ": a program that compiles much fills hundreds of MB"
	}
	return c
}

// leftFolders switches off what earlier runs of gasm have left switched on in JVMs, and reports that. It also reports
// the folders that those runs could not remove.
func leftFolders(ctx context.Context) (all []Finding) {
	ended, _ := record.EndLeft(ctx) // LeftFolders reports what could not be ended
	for _, text := range ended {
		all = append(all, Finding{"environment", "left in a JVM", Note, text, ""})
	}
	for _, left := range record.LeftFolders(ctx) {
		all = append(all, Finding{"environment", "left folder", Note, left.Path + ": " + left.Why, ""})
	}
	return all
}

// sizeText formats a number of bytes: "2496 KiB", "240 MiB", "78.9 GiB".
func sizeText(n uint64) string {
	switch {
	case n >= 1<<30:
		return strconv.FormatFloat(float64(n)/(1<<30), 'f', 1, 64) + " GiB"
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

// setOptionVariables returns the names of the environment variables from which JVMs read options, if they are set.
func setOptionVariables() []string {
	return slices.DeleteFunc(slices.Clone(jdk.OptionVariables), func(name string) bool { return os.Getenv(name) == "" })
}

// checkJavaOptions looks for JVM options in environment variables. It finds a problem if they override the options that
// `gasm profile` sets.
func checkJavaOptions() Finding {
	c := Finding{Area: "environment", Name: "java options", Status: OK, Text: "none in the environment"}
	if name, cause := record.OverridingVariable(); name != "" {
		c.Status, c.Text, c.Fix = Problem, cause, "unset "+name
		return c
	}
	if set := setOptionVariables(); len(set) > 0 {
		c.Text = strings.Join(set, ", ") + verb(len(set), " is set and does", " are set and do") + " no harm"
	}
	return c
}

// tryJavaOptions finds out whether environment variables with options for JVMs are the reason why no JDK works. It runs
// java with and without these variables. If they are not the reason, it returns the finding c unchanged.
func tryJavaOptions(ctx context.Context, jdks []jdkResult, c Finding) Finding {
	set := setOptionVariables()
	if len(set) == 0 || slices.ContainsFunc(jdks, func(j jdkResult) bool { return j.works }) {
		return c
	}
	without := slices.DeleteFunc(os.Environ(), func(setting string) bool {
		name, _, _ := strings.Cut(setting, "=")
		return slices.Contains(set, name)
	})
	for _, j := range jdks {
		if _, _, err := run(ctx, j.java(), "-version"); err == nil {
			continue
		}
		if _, _, err := runWithin(ctx, patience, without, j.java(), "-version"); err == nil {
			c.Status, c.Fix = Problem, "unset "+strings.Join(set, " ")
			c.Text = strings.Join(set, " and ") + verb(len(set), " keeps", " keep") + " java from starting"
			return c
		}
	}
	return c
}

// checkLocale finds out whether reports can be drawn with box-drawing characters.
func checkLocale() Finding {
	c := Finding{"environment", "locale", OK, "none set: reports are drawn in UTF-8", ""}
	l := layout.UserLocale()
	if l.Variable != "" {
		c.Text = l.Variable + "=" + l.Value
	}
	if !l.UTF8() {
		c.Status, c.Fix = Note, "export "+l.Variable+"=C.UTF-8"
		c.Text += " is not UTF-8: reports are drawn in ASCII"
	}
	return c
}

// wideEnough is the number of columns that annotated code needs.
const wideEnough = 100

// checkTerminal finds out how wide this terminal is, and whether a report will have colours on it.
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
	if 0 < o.Columns && o.Columns < wideEnough {
		c.Status = Note
		c.Text += fmt.Sprintf(": names are shortened, and lines of code run over; reports look best in %d columns or more",
			wideEnough)
	}
	return c
}
