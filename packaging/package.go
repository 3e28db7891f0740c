package main

import (
	"bytes"
	"compress/gzip"
	_ "embed"
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

// unit is the service that profiles all JVMs of a machine, and unitConfig its configuration file. The scripts are
// dpkg's. They stop the service before it is removed, and remove what it has written when the package is purged.
var (
	//go:embed systemd/gasm-watch.service
	unit []byte
	//go:embed systemd/watch.conf
	unitConfig []byte
	//go:embed systemd/postinst.sh
	postInstall []byte
	//go:embed systemd/prerm.sh
	preRemove []byte
	//go:embed systemd/postrm.sh
	postRemove []byte
)

// Where packages install the service. They do not start it.
const (
	unitPath       = "/usr/lib/systemd/system/gasm-watch.service"
	unitConfigPath = "/etc/gasm/watch.conf"
)

// service returns the files of the service. A configuration file that was changed survives an upgrade.
func (r *release) service() (files.Contents, error) {
	var contents files.Contents
	for _, f := range []struct {
		path, kind string
		text       []byte
	}{{unitPath, files.TypeFile, unit}, {unitConfigPath, files.TypeConfigNoReplace, unitConfig}} {
		source, err := r.writeSource(filepath.Base(f.path), f.text)
		if err != nil {
			return nil, err
		}
		contents = append(contents, &files.Content{Source: source, Destination: f.path, Type: f.kind,
			FileInfo: &files.ContentFileInfo{Mode: 0o644, MTime: r.time}})
	}
	return contents, nil
}

// scripts returns the scripts of the Debian package. The RPM package has none, so that it needs no shell.
func (r *release) scripts() (s nfpm.Scripts, err error) {
	for _, script := range []struct {
		path *string
		name string
		text []byte
	}{{&s.PostInstall, "postinst", postInstall}, {&s.PreRemove, "prerm", preRemove}, {&s.PostRemove, "postrm", postRemove}} {
		if *script.path, err = r.writeSource(script.name, script.text); err != nil {
			return s, err
		}
	}
	return s, nil
}

// writeSource writes a file from which nfpm takes a part of a package, and returns its path.
func (r *release) writeSource(name string, text []byte) (string, error) {
	path := filepath.Join(r.work, "service", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, text, 0o644)
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
		service, err := r.service()
		if err != nil {
			return err
		}
		if err := r.writePackage(packager, p.arch, append(contents, service...)); err != nil {
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
			RPM: nfpm.RPM{BuildHost: "localhost", Compression: fmt.Sprintf("gzip:%d", compression)},
		},
	})
	if packager == "deb" {
		var err error
		if info.Scripts, err = r.scripts(); err != nil {
			return err
		}
	}
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
