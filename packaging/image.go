package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// The paths of the files in the image.
const (
	imageProgram      = "usr/bin/gasm"
	imageCertificates = "etc/ssl/certs/ca-certificates.crt" // where Go's crypto/x509 looks for them
)

// writeImage writes the container image of all programs for Linux, as an archive in the layout of the Open Container
// Initiative: gasm-1.2.3.oci.tar. An image has one layer, with the program and the certificates of the authorities that
// Mozilla trusts. It is made without a container engine, and has no base image.
func (r *release) writeImage(programs []program) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	found := false
	for i := range programs {
		if programs[i].os != "linux" {
			continue
		}
		image, err := r.image(&programs[i])
		if err != nil {
			return fmt.Errorf("the image for %s: %w", programs[i].arch, err)
		}
		found = true
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: programs[i].arch}}})
	}
	if !found {
		return nil
	}
	folder := filepath.Join(r.work, "oci")
	path, err := layout.Write(folder, mutate.IndexMediaType(empty.Index, types.OCIImageIndex))
	if err == nil {
		err = path.AppendIndex(index, layout.WithAnnotations(map[string]string{
			"org.opencontainers.image.ref.name": r.version}))
	}
	if err != nil {
		return err
	}
	return create(filepath.Join(r.out, r.imageName()), func(w io.Writer) error { return r.tarFolder(w, folder) })
}

// imageName returns the name of the archive with the image.
func (r *release) imageName() string { return "gasm-" + r.version + ".oci.tar" }

// image returns the image for one program.
func (r *release) image(p *program) (v1.Image, error) {
	files, err := r.imageLayer(p)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files)), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	created := v1.Time{Time: r.time}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{Layer: layer,
		History: v1.History{Created: created, CreatedBy: "gasm's packaging"}})
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(image, r.imageConfig(image, p, created))
}

// imageConfig returns the configuration of an image: the command that runs in it, its environment and its labels.
func (r *release) imageConfig(image v1.Image, p *program, created v1.Time) *v1.ConfigFile {
	config, err := image.ConfigFile()
	if err != nil { // it is in memory, so this does not happen
		panic(err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = p.os, p.arch, created
	config.Config = v1.Config{Entrypoint: []string{"/" + imageProgram}, Cmd: []string{"watch"}, WorkingDir: "/",
		Env: []string{"PATH=/usr/bin", "TMPDIR=/var/cache/gasm"},
		Labels: map[string]string{"org.opencontainers.image.source": homepage, "org.opencontainers.image.version": r.version,
			"org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.title": "gasm"}}
	return config
}

// imageLayer returns the layer of an image as a tar archive.
func (r *release) imageLayer(p *program) ([]byte, error) {
	gasm, err := os.ReadFile(p.path)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	for _, folder := range []struct {
		name string
		mode int64
	}{{"etc/", 0o755}, {"etc/ssl/", 0o755}, {"etc/ssl/certs/", 0o755}, {"tmp/", 0o1777}, {"usr/", 0o755},
		{"usr/bin/", 0o755}, {"var/", 0o755}, {"var/cache/", 0o755}, {"var/cache/gasm/", 0o700}} {
		err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder.name, Mode: folder.mode, ModTime: r.time,
			Format: tar.FormatUSTAR})
		if err != nil {
			return nil, err
		}
	}
	if err := r.addFile(archive, imageCertificates, 0o644, certificates()); err != nil {
		return nil, err
	}
	if err := r.addFile(archive, imageProgram, 0o755, gasm); err != nil {
		return nil, err
	}
	return out.Bytes(), archive.Close()
}

// certificates returns the certificates of the authorities that Mozilla trusts, in the form PEM. They are those of a
// Go module, so they are the same on each machine. Authorities that are only trusted under conditions, which a file
// can't express, are left out.
func certificates() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a Buffer returns no errors
		}
	}
	return out.Bytes()
}

// tarFolder writes all files of a folder as a tar archive, sorted by their names.
func (r *release) tarFolder(w io.Writer, folder string) error {
	var paths []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	slices.Sort(paths)
	archive := tar.NewWriter(w)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		if err := r.addFile(archive, filepath.ToSlash(name), 0o644, text); err != nil {
			return err
		}
	}
	return archive.Close()
}
