package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// archiveName returns the name of an archive without .tar.gz. The folder in the archive has the same
// name.
func (r *release) archiveName(system, arch string) string {
	return fmt.Sprintf("gasm-%s-%s-%s", r.version, system, arch)
}

// writeArchive writes an archive: one folder with the program and the documents.
func (r *release) writeArchive(p *program, docs []document) error {
	name := r.archiveName(p.os, p.arch)
	gasm, err := os.ReadFile(p.path)
	if err != nil {
		return err
	}
	return create(filepath.Join(r.out, name+".tar.gz"), func(w io.Writer) error {
		packed, err := gzip.NewWriterLevel(w, compression) // no name and no time in its header
		if err != nil {
			return err
		}
		archive := tar.NewWriter(packed)
		if err := r.addFile(archive, name+"/gasm", 0o755, gasm); err != nil {
			return err
		}
		for _, d := range docs {
			if err := r.addFile(archive, name+"/"+d.path(), 0o644, d.text); err != nil {
				return err
			}
		}
		if err := archive.Close(); err != nil {
			return err
		}
		return packed.Close()
	})
}

// addFile adds a file to an archive. The file belongs to root, and its time is that of the release.
func (r *release) addFile(archive *tar.Writer, name string, mode int64, text []byte) error {
	err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(text)),
		ModTime: r.time, Format: tar.FormatUSTAR})
	if err == nil {
		_, err = archive.Write(text)
	}
	return err
}

// sumsFile is the file with the SHA-256 sums of all other files, in the form that sha256sum prints and
// checks.
const sumsFile = "SHA256SUMS"

func (r *release) writeSums() error {
	files, err := os.ReadDir(r.out) // sorted by name
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, file := range files {
		sum, err := sha256Of(filepath.Join(r.out, file.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%s  %s\n", sum, file.Name())
	}
	return os.WriteFile(filepath.Join(r.out, sumsFile), []byte(lines.String()), 0o644)
}

func sha256Of(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}

// create makes a new file and passes it to a function that writes the content. It is an error if the file exists.
func create(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = write(f)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
