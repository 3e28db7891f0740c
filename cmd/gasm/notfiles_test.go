package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/capture"
	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// notFiles has functions that each make something at a path that is not a regular file.
var notFiles = map[string]func(t *testing.T, path string){
	"a pipe":   func(t *testing.T, path string) { require.NoError(t, syscall.Mkfifo(path, 0o600)) },
	"a device": func(t *testing.T, path string) { require.NoError(t, os.Symlink("/dev/zero", path)) },
	"a folder": func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o700)) },
	"a socket": func(t *testing.T, path string) {
		listener, err := net.Listen("unix", path)
		require.NoError(t, err)
		t.Cleanup(func() { listener.Close() })
	},
}

// TestNotFiles checks that gasm refuses at once what is not a regular file. It must not wait for it, and must not
// read it forever.
func TestNotFiles(t *testing.T) {
	t.Parallel()
	for kind, create := range notFiles {
		t.Run(strings.TrimPrefix(kind, "a "), func(t *testing.T) {
			t.Parallel()
			// The names are short, because the path of a socket can have only about 100 characters.
			dir, err := os.MkdirTemp("", "gasm-not-")
			require.NoError(t, err)
			t.Cleanup(func() { os.RemoveAll(dir) })
			samples, log := savedCapture(t, "jdk17-lean-none")
			thing := filepath.Join(dir, "thing")
			create(t, thing)
			check := func(path string, code int, args ...string) {
				t.Helper()
				r := runGasm(t, args)
				assert.Equal(t, code, r.code)
				assert.Contains(t, r.said(), path+" is "+kind)
			}
			for _, file := range []string{capture.SamplesFile, capture.LogFile(1), capture.DescriptionFile,
				capture.SymbolsFile} {
				in := filepath.Join(dir, strings.TrimSuffix(file, filepath.Ext(file)))
				require.NoError(t, os.Mkdir(in, 0o700))
				for name, from := range map[string]string{capture.SamplesFile: samples, capture.LogFile(1): log} {
					if name != file {
						require.NoError(t, os.Symlink(from, filepath.Join(in, name)))
					}
				}
				create(t, filepath.Join(in, file))
				check(filepath.Join(in, file), 1, "report", in)
				check(filepath.Join(in, file), 1, "diff", in, in)
			}
			check(thing, 1, "report", samples, thing)
			if kind != "a folder" {
				check(thing, 1, "report", thing, log)
				check(thing, 1, "diff", thing, thing)
				check(thing, 2, "report", "--source", thing, samples, log)
			}
		})
	}
}

// fingerprints returns a text for each file below a folder, and for the folder itself. The text changes whenever the
// file does.
func fingerprints(t *testing.T, dir string) map[string]string {
	t.Helper()
	prints := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		text := []byte(nil)
		if info.Mode().IsRegular() {
			text = readFile(t, path)
		}
		prints[path] = fmt.Sprintf("%v %v %x", info.Mode(), info.ModTime(), sha256.Sum256(text))
		return nil
	}))
	return prints
}

// TestReportOnlyReads checks that gasm report changes nothing in the folder that it reads, even if the folder has
// logs under both names of one process, and files that a killed recording has left behind.
func TestReportOnlyReads(t *testing.T) {
	t.Parallel()
	dir := captureFolder(t, "jdk17-lean-none")
	log := readFile(t, filepath.Join(dir, capture.LogFile(1)))
	for _, name := range []string{capture.LogFile(24997), "asm-pid24997.log", "copies-1.log", "perf.data",
		capture.SamplesFile + ".part"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), log, 0o644))
	}
	before := fingerprints(t, dir)
	require.NotEmpty(t, before)
	report := func(opts ...runOpt) {
		t.Helper()
		r := runGasm(t, []string{"report", dir}, opts...)
		assert.Equal(t, 0, r.code, r.stderr)
		r = runGasm(t, []string{"diff", dir, dir}, opts...)
		assert.Equal(t, 0, r.code, r.stderr)
	}
	report()
	assert.Equal(t, before, fingerprints(t, dir))
	for _, flag := range []string{"--report", "--save-log"} {
		r := runGasm(t, []string{"report", flag, filepath.Join(dir, capture.LogFile(1)), dir})
		assert.Equal(t, 2, r.code)
		assert.Contains(t, r.said(), "is an input file")
		r = runGasm(t, []string{"report", flag, filepath.Join(dir, capture.SamplesFile),
			filepath.Join(dir, capture.SamplesFile), filepath.Join(dir, capture.LogFile(1))})
		assert.Equal(t, 2, r.code)
	}
	for _, command := range [][]string{{"diff", dir}, {"events"}} {
		r := runGasm(t, append(command, "--report", filepath.Join(dir, capture.SamplesFile), dir))
		assert.Equal(t, 2, r.code, command)
		assert.Contains(t, r.said(), "is an input file")
	}
	assert.Equal(t, before, fingerprints(t, dir))
	r := runGasm(t, []string{"report", "--report", filepath.Join(dir, "report.txt"), dir})
	assert.Equal(t, 0, r.code, "a new file in the folder: %s", r.stderr)
	r = runGasm(t, []string{"report", "--report", filepath.Join(dir, "report.txt"), dir})
	assert.Equal(t, 0, r.code, "the last report: %s", r.stderr)
	t.Run("read-only", func(t *testing.T) {
		gasmtest.NeedRoot(t) // only root can become another user
		require.NoError(t, exec.Command("chmod", "-R", "a+rX", filepath.Dir(filepath.Dir(dir))).Run())
		home, asNobody := nobody(t)
		before := fingerprints(t, dir)
		report(asNobody)
		assert.Equal(t, before, fingerprints(t, dir))
		left, err := os.ReadDir(home)
		require.NoError(t, err)
		assert.Empty(t, left, "nothing is written elsewhere either")
	})
}
