package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// A program is a gasm binary built for one platform.
type program struct {
	os, arch string
	path     string
	info     *buildinfo.BuildInfo
}

// A document is a file that is the same on all platforms: a page of the manual, the completions of a shell, the licence
// and so on.
type document struct {
	kind string // man, bash, zsh, fish, license, readme, docs
	name string // the file's name, for example "gasm-profile.1"
	text []byte
}

// path returns the path of the document in an archive.
func (d *document) path() string {
	switch d.kind {
	case "man":
		return "man/man1/" + d.name
	case "bash", "zsh", "fish":
		return "completions/" + d.name
	case "docs":
		return "docs/" + d.name
	}
	return d.name
}

// build builds gasm for a platform.
func (r *release) build(platform string) (*program, error) {
	system, arch, _ := strings.Cut(platform, "/")
	path := r.programPath(system, arch)
	if err := r.compile(path, system, arch); err != nil {
		return nil, err
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading what gasm for %s is made of: %w", platform, err)
	}
	return &program{os: system, arch: arch, path: path, info: info}, nil
}

func (r *release) programPath(system, arch string) string {
	return filepath.Join(r.work, "gasm-"+system+"-"+arch)
}

// compile builds gasm for a platform with go build, unless the file exists because it was built before. The flags are
// those of the Makefile, so that go build can reuse the packages that were compiled for the checks. In addition, -s and
// -w leave out symbols, which gasm never reads.
func (r *release) compile(path, system, arch string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	cmd := exec.Command(r.goTool, "build", "-trimpath", "-buildvcs=false", "-ldflags",
		"-s -w -buildid= -X main.version="+r.version, "-o", path, "./cmd/gasm")
	cmd.Dir = r.source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch, "GOAMD64=v1", "GOARM64=v8.0",
		"GOWORK=off", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building gasm for %s/%s: %w\n%s", system, arch, err, out)
	}
	return nil
}

// buildDocuments returns all documents, sorted by their paths. It builds gasm for this machine, and runs it to write
// the manual and the completions.
func (r *release) buildDocuments() ([]document, error) {
	gasm := r.programPath(runtime.GOOS, runtime.GOARCH)
	if err := r.compile(gasm, runtime.GOOS, runtime.GOARCH); err != nil {
		return nil, err
	}
	pages := filepath.Join(r.work, "man")
	if err := os.Mkdir(pages, 0o755); err != nil {
		return nil, err
	}
	if _, err := output(gasm, "man", pages); err != nil {
		return nil, err
	}
	var docs []document
	files, err := filepath.Glob(filepath.Join(pages, "*.1"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("gasm man wrote no page into %s", pages)
	}
	slices.Sort(files)
	for _, file := range files {
		docs = append(docs, document{kind: "man", name: filepath.Base(file)})
	}
	for i := range docs {
		if docs[i].text, err = os.ReadFile(filepath.Join(pages, docs[i].name)); err != nil {
			return nil, err
		}
	}
	for shell, name := range map[string]string{"bash": "gasm.bash", "zsh": "_gasm", "fish": "gasm.fish"} {
		text, err := output(gasm, "completion", shell)
		if err != nil {
			return nil, err
		}
		docs = append(docs, document{shell, name, text})
	}
	written, err := r.writtenDocuments()
	if err != nil {
		return nil, err
	}
	docs = append(docs, written...)
	slices.SortFunc(docs, func(a, b document) int { return strings.Compare(a.path(), b.path()) })
	return docs, nil
}

// writtenDocuments returns the documents in the repository: the licence, the README, and the files in
// docs.
func (r *release) writtenDocuments() ([]document, error) {
	kinds := map[string]string{"LICENSE": "license", "README.md": "readme"}
	pages, err := filepath.Glob(filepath.Join(r.source, "docs", "*"))
	if err != nil || len(pages) == 0 {
		return nil, fmt.Errorf("there are no documents in %s", filepath.Join(r.source, "docs"))
	}
	for _, page := range pages {
		kinds[filepath.Join("docs", filepath.Base(page))] = "docs"
	}
	var docs []document
	for name, kind := range kinds {
		text, err := os.ReadFile(filepath.Join(r.source, name))
		if err != nil {
			return nil, err
		}
		docs = append(docs, document{kind, filepath.Base(name), text})
	}
	return docs, nil
}

// output runs a program and returns what it prints.
func output(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, &stderr)
	}
	return out, nil
}
