// Command packaging makes the files of a release of gasm: an archive for each platform, packages for Debian and for
// RPM, a list of the modules in the program (an SBOM), a formula for Homebrew, and the checksums of all files.
//
//	cd packaging && go run . -version 1.2.3 -out ../dist
//
// It is a module of its own, so that gasm does not depend on the libraries that make packages. The same sources,
// version, time and release of Go always make the same bytes: the only time in the files is that of the flag -time, the
// files contain no path, user or host of the machine, and all lists are sorted.
//
//	build.go     the programs; the manual and the completions, which gasm itself writes
//	archive.go   gasm-1.2.3-linux-amd64.tar.gz
//	package.go   gasm_1.2.3_amd64.deb, gasm-1.2.3-1.x86_64.rpm
//	sbom.go      gasm-1.2.3.cdx.json, in the form of CycloneDX
//	formula.go   gasm.rb
//	image.go     gasm-1.2.3.oci.tar, the container image
//
// The folder systemd has the service of the packages, and kubernetes what runs the image on each node of a cluster.
package main

import (
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

// A release says what is built, from which sources, and where the files go.
type release struct {
	version   string
	goTool    string   // the go command
	source    string   // gasm's folder
	out       string   // where the files go
	work      string   // a temporary folder
	platforms []string // linux/amd64 …
	time      time.Time
}

// homepage is the address of the project.
const homepage = "https://github.com/gasm-profiler/gasm"

// all is the default of -platforms: the platforms of a release.
const all = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64"

// semantic matches the versions that -version accepts. The packages for Debian and RPM derive their own versions from
// that version.
var semantic = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z]+(\.[0-9A-Za-z]+)*)?$`)

func run(args []string) error {
	flags := flag.NewFlagSet("packaging", flag.ContinueOnError)
	r := release{}
	flags.StringVar(&r.version, "version", "", "the release's `version`, as 1.2.3 or 1.2.3-rc.1")
	flags.StringVar(&r.goTool, "go", "go", "the go `command`")
	flags.StringVar(&r.source, "source", "..", "gasm's `folder`")
	flags.StringVar(&r.out, "out", "../dist", "the `folder` for what is made; what is in it is removed")
	platforms := flags.String("platforms", all, "the `platforms`, separated by commas")
	seconds := flags.Int64("time", 0, "the time of all files, in `seconds` since 1970: the commit's")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if !semantic.MatchString(r.version) {
		return fmt.Errorf("-version is %q; it is a version like 1.2.3 or 1.2.3-rc.1", r.version)
	}
	if *seconds <= 0 {
		return errors.New("-time is missing: the seconds since 1970 that all files get, as `git log -1 --format=%ct` prints")
	}
	r.platforms, r.time = strings.Split(*platforms, ","), time.Unix(*seconds, 0).UTC()
	return r.make()
}

// compression is the level of gzip for archives and RPM packages. Only tests change it: compressing takes most of a
// build's CPU time.
var compression = gzip.BestCompression

// progress says on stderr what is made next, because building gasm for a platform can take a minute.
func progress(what string) { fmt.Fprintln(os.Stderr, "    "+what) }

// make makes all files in a temporary folder. When all files are complete, their folder replaces r.out.
func (r *release) make() error {
	out, err := filepath.Abs(r.out)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp(filepath.Dir(out), ".packaging-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	r.out = filepath.Join(r.work, "out")
	if err := os.Mkdir(r.out, 0o755); err != nil {
		return err
	}
	progress("the manual and the completions")
	shared, err := r.buildDocuments()
	if err != nil {
		return err
	}
	var programs []program
	for i, platform := range r.platforms {
		progress(fmt.Sprintf("gasm for %s, its archive and packages (%d of %d)", platform, i+1, len(r.platforms)))
		p, err := r.build(platform)
		if err != nil {
			return err
		}
		programs = append(programs, *p)
		if err := r.writeArchive(p, shared); err != nil {
			return fmt.Errorf("the archive for %s: %w", platform, err)
		}
		if p.os == "linux" {
			if err := r.writePackages(p, shared); err != nil {
				return fmt.Errorf("the packages for %s: %w", platform, err)
			}
		}
	}
	progress("the image, the SBOM, the formula and the sums")
	if err := errors.Join(r.writeImage(programs), r.writeSBOM(programs), r.writeFormula(), r.writeSums()); err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	return os.Rename(r.out, out)
}
