package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// build makes a release of two platforms in a new folder.
func build(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "dist")
	require.NoError(t, run([]string{"-version", "1.2.3-rc.1", "-time", "1700000000", "-out", dir, "-platforms",
		"linux/amd64,darwin/arm64"}))
	return dir
}

func contentsOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		all[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
	}
	return all
}

// Two builds in different folders, with other settings of the machine, are the same byte for byte; and all that a
// release should have is in it. One test, because a build takes seconds.
func TestRelease(t *testing.T) {
	compression = gzip.BestSpeed
	defer func() { compression = gzip.BestCompression }()
	first := build(t)
	want, got := contentsOf(t, first), map[string][]byte{}
	t.Run("elsewhere", func(t *testing.T) { // its end restores the environment
		t.Setenv("TZ", "Pacific/Chatham")
		t.Setenv("LC_ALL", "C")
		t.Setenv("SOURCE_DATE_EPOCH", "1")
		t.Setenv("TMPDIR", t.TempDir())
		t.Setenv("GOFLAGS", "-tags=other")
		old := syscall.Umask(0o077)
		defer syscall.Umask(old)
		got = contentsOf(t, build(t))
	})
	require.Len(t, want, 7)
	require.Len(t, got, len(want))
	for name, text := range want {
		assert.Equal(t, sha256.Sum256(text), sha256.Sum256(got[name]), name)
		if name != sumsFile {
			assert.Contains(t, string(want[sumsFile]), fmt.Sprintf("%x  %s\n", sha256.Sum256(text), name))
		}
	}
	t.Run("archives", func(t *testing.T) { checkArchives(t, first) })
	t.Run("deb", func(t *testing.T) { checkDeb(t, first) })
	t.Run("rpm", func(t *testing.T) { checkRPM(t, first) })
	t.Run("SBOM", func(t *testing.T) { checkSBOM(t, first) })
	t.Run("image", func(t *testing.T) { checkImage(t, first) })
}

// installedFiles are files that both packages and archives have.
var installedFiles = []string{"gasm.1", "gasm-profile.1", "gasm-attach.1", "_gasm", "gasm.fish", "README.md",
	"report.md", "overview-light.png"}

func checkArchives(t *testing.T, dir string) {
	for _, platform := range []string{"linux-amd64", "darwin-arm64"} {
		name := "gasm-1.2.3-rc.1-" + platform
		names := unpack(t, filepath.Join(dir, name+".tar.gz"), filepath.Join(dir, ".."))
		for _, file := range append(installedFiles, "gasm", "gasm.bash", "LICENSE") {
			assert.Contains(t, names, file, platform)
		}
		if platform != runtime.GOOS+"-"+runtime.GOARCH {
			continue
		}
		out, err := exec.Command(filepath.Join(dir, "..", name, "gasm"), "version").Output()
		require.NoError(t, err)
		assert.Equal(t, "gasm 1.2.3-rc.1\n", string(out))
	}
}

// unpack unpacks an archive, and gives the names of its files.
func unpack(t *testing.T, path, to string) map[string]bool {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	packed, err := gzip.NewReader(f)
	require.NoError(t, err)
	names := map[string]bool{}
	archive := tar.NewReader(packed)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		require.NoError(t, err)
		assert.EqualValues(t, 1_700_000_000, h.ModTime.Unix(), h.Name)
		assert.Zero(t, h.Uid+h.Gid)
		names[filepath.Base(h.Name)] = true
		file := filepath.Join(to, h.Name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		text, err := io.ReadAll(archive)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, text, os.FileMode(h.Mode)))
	}
}

func checkDeb(t *testing.T, dir string) {
	tool, err := exec.LookPath("dpkg-deb")
	if err != nil {
		t.Skip("no dpkg-deb on PATH: Debian and Ubuntu have it")
	}
	deb := filepath.Join(dir, "gasm_1.2.3~rc.1-1_amd64.deb")
	out, err := exec.Command(tool, "--info", deb).Output()
	require.NoError(t, err)
	conffiles, err := exec.Command(tool, "--info", deb, "conffiles").Output()
	require.NoError(t, err)
	assert.Equal(t, unitConfigPath+"\n", string(conffiles))
	for _, want := range []string{"Package: gasm\n", "Version: 1.2.3~rc.1-1\n", "Architecture: amd64\n"} {
		assert.Contains(t, string(out), want)
	}
	assert.NotContains(t, string(out), "Depends:")
	for script, text := range map[string][]byte{"postinst": postInstall, "prerm": preRemove, "postrm": postRemove} {
		got, err := exec.Command(tool, "--info", deb, script).Output()
		require.NoError(t, err)
		assert.Equal(t, string(text), string(got), script)
	}
	out, err = exec.Command(tool, "--contents", deb).Output()
	require.NoError(t, err)
	for _, file := range append(installedFiles, "/usr/bin/gasm", "/usr/share/bash-completion/completions/gasm",
		"/usr/share/doc/gasm/copyright", unitPath, unitConfigPath) {
		assert.Contains(t, string(out), file)
	}
	for line := range strings.Lines(string(out)) {
		assert.Contains(t, line, " root/root ")
		assert.Contains(t, line, "2023-11-1", "the time") // of the machine's zone
	}
}

// checkRPM installs the package, by RPM itself, into an empty folder that is its root, and runs what is installed.
func checkRPM(t *testing.T, dir string) {
	tool, err := exec.LookPath("rpm")
	if err != nil {
		t.Skip("no rpm on PATH: scripts/setup.sh installs it")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can install a package into another root")
	}
	root, name := t.TempDir(), filepath.Join(dir, "gasm-1.2.3~rc.1-1.x86_64.rpm")
	rpm := func(args ...string) string {
		out, err := exec.Command(tool, append([]string{"--root", root}, args...)...).CombinedOutput()
		require.NoError(t, err, "rpm %s: %s", args, out)
		return string(out)
	}
	rpm("--initdb")
	rpm("--install", "--nosignature", name) // and no --nodeps: it needs nothing
	assert.Equal(t, "gasm-1.2.3~rc.1-1.x86_64\n", rpm("--query", "gasm"))
	assert.Empty(t, rpm("--verify", "gasm"), "files are as the package says")
	files := rpm("--query", "--list", "gasm")
	for _, file := range append(installedFiles, "/usr/bin/gasm", "/usr/share/bash-completion/completions/gasm",
		"/usr/share/licenses/gasm/LICENSE", unitPath, unitConfigPath) {
		assert.Contains(t, files, file)
	}
	if runtime.GOARCH == "amd64" {
		out, err := exec.Command(filepath.Join(root, "usr", "bin", "gasm"), "version").Output()
		require.NoError(t, err)
		assert.Equal(t, "gasm 1.2.3-rc.1\n", string(out))
	}
	rpm("--erase", "gasm")
	assert.NoFileExists(t, filepath.Join(root, "usr", "bin", "gasm"))
}

// The list has each module that the go command finds in the program.
func checkSBOM(t *testing.T, dir string) {
	f, err := os.Open(filepath.Join(dir, "gasm-1.2.3-rc.1.cdx.json"))
	require.NoError(t, err)
	defer f.Close()
	var bom cdx.BOM
	require.NoError(t, cdx.NewBOMDecoder(f, cdx.BOMFileFormatJSON).Decode(&bom))
	listed := map[string]bool{}
	for _, c := range *bom.Components {
		listed[c.PackageURL] = true
	}
	for _, platform := range []string{"linux-amd64", "darwin-arm64"} {
		info, err := buildinfo.ReadFile(filepath.Join(dir, "..", "gasm-1.2.3-rc.1-"+platform, "gasm"))
		require.NoError(t, err)
		require.Greater(t, len(info.Deps), 5)
		for _, m := range info.Deps {
			assert.True(t, listed["pkg:golang/"+m.Path+"@"+m.Version], m.Path)
		}
	}
	assert.Len(t, *bom.Dependencies, 2)
}

// The formula has the addresses and the sums of the archives.
func TestFormula(t *testing.T) {
	r := release{version: "1.2.3", out: t.TempDir()}
	require.NoError(t, r.writeFormula())
	assert.NoFileExists(t, filepath.Join(r.out, "gasm.rb"), "without the archives")
	for platform := range strings.SplitSeq(all, ",") {
		system, arch, _ := strings.Cut(platform, "/")
		require.NoError(t, os.WriteFile(filepath.Join(r.out, r.archiveName(system, arch)+".tar.gz"), []byte(platform), 0o600))
	}
	require.NoError(t, r.writeFormula())
	text, err := os.ReadFile(filepath.Join(r.out, "gasm.rb"))
	require.NoError(t, err)
	for platform := range strings.SplitSeq(all, ",") {
		url := fmt.Sprintf("url \"#{base}-%s.tar.gz\"\n      sha256 \"%x\"\n", strings.ReplaceAll(platform, "/", "-"),
			sha256.Sum256([]byte(platform)))
		assert.Contains(t, string(text), url)
	}
	assert.Contains(t, string(text), "releases/download/v1.2.3/gasm-1.2.3\"")
}

func TestBadArguments(t *testing.T) {
	for _, args := range []string{"", "-version 1.2", "-version v1.2.3", "-version 1.2.3-a-b", "-version 1.2.3"} {
		assert.Error(t, run(strings.Fields(args)), args)
	}
}
