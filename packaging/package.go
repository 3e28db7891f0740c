package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers itself for nfpm.Get
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// installed returns the path at which a package installs the document. packager is "deb" or "rpm", which differ in the
// paths of the licence and of zsh's completions.
func (d *document) installed(packager string) string {
	switch d.kind {
	case "man":
		return "/usr/share/man/man1/" + d.name + ".gz"
	case "bash":
		return "/usr/share/bash-completion/completions/gasm"
	case "zsh":
		return map[string]string{"deb": "/usr/share/zsh/vendor-completions/",
			"rpm": "/usr/share/zsh/site-functions/"}[packager] + d.name
	case "fish":
		return "/usr/share/fish/vendor_completions.d/" + d.name
	case "license":
		return map[string]string{"deb": "/usr/share/doc/gasm/copyright", "rpm": "/usr/share/licenses/gasm/LICENSE"}[packager]
	}
	return "/usr/share/doc/gasm/" + d.path()
}

// writePackages writes the packages for Debian and for RPM. gasm is linked statically, so they depend
// on nothing.
func (r *release) writePackages(p *program, docs []document) error {
	for _, packager := range []string{"deb", "rpm"} {
		contents := files.Contents{{Source: p.path, Destination: "/usr/bin/gasm",
			FileInfo: &files.ContentFileInfo{Mode: 0o755, MTime: r.time}}}
		for _, d := range docs {
			source := filepath.Join(r.work, "installed", packager, p.arch, d.installed(packager))
			if err := writeDocument(source, &d); err != nil {
				return err
			}
			contents = append(contents, &files.Content{Source: source, Destination: d.installed(packager),
				FileInfo: &files.ContentFileInfo{Mode: 0o644, MTime: r.time}})
		}
		if err := r.writePackage(packager, p.arch, contents); err != nil {
			return err
		}
	}
	return nil
}

// writeDocument writes a document in the form in which it is installed: pages of the manual are compressed.
func writeDocument(path string, d *document) error {
	text := d.text
	if d.kind == "man" {
		var packed bytes.Buffer
		w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		text = packed.Bytes()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

func (r *release) writePackage(packager, arch string, contents files.Contents) error {
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "gasm", Arch: arch, Platform: "linux", Version: r.version, VersionSchema: "semver", Release: "1",
		Section: "devel", Priority: "optional", Maintainer: "the gasm project <gasm@users.noreply.github.com>",
		Vendor: "the gasm project",
		Description: "Assembly-level profiler for the JVM\n" +
			"gasm shows where a Java program's CPU time goes, instruction by instruction,\n" +
			"in the machine code that HotSpot made of it. It needs no hsdis, no debug JDK\n" +
			"and no change to the program.",
		Homepage: homepage, License: "Apache-2.0", MTime: r.time,
		Overridables: nfpm.Overridables{
			Contents: contents, Umask: 0o022,
			RPM: nfpm.RPM{BuildHost: "localhost", Compression: "gzip:9"},
		},
	})
	if err := nfpm.PrepareForPackager(info, packager); err != nil {
		return fmt.Errorf("%s: %w", packager, err)
	}
	p, err := nfpm.Get(packager)
	if err != nil {
		return err
	}
	return create(filepath.Join(r.out, p.ConventionalFileName(info)),
		func(w io.Writer) error { return p.Package(info, w) })
}
