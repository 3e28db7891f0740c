package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ulikunitz/xz"
)

const captures = "testdata/captures"

// openPacked opens a file of a capture, "asm.log" or "samples.txt", which may be
// packed by gzip or by xz.
func openPacked(capture, file string) (io.Reader, func(), error) {
	path := filepath.Join(captures, capture, file)
	f, err := os.Open(path + ".gz")
	packed := "gz"
	if errors.Is(err, os.ErrNotExist) {
		f, err = os.Open(path + ".xz")
		packed = "xz"
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, missing("there is no %s.gz here: run it in the root of the repository", path)
	}
	if err != nil {
		return nil, nil, err
	}
	var r io.Reader
	if packed == "gz" {
		r, err = gzip.NewReader(f)
	} else {
		r, err = xz.NewReader(f)
	}
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return r, func() { f.Close() }, nil
}

// writeFile makes a file in the temporary folder and returns its path. What
// could not be written whole is removed.
func (s *setup) writeFile(name string, write func(io.Writer) error) (path string, err error) {
	path = filepath.Join(s.dir, name)
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	b := bufio.NewWriterSize(f, 1<<20)
	if err = write(b); err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = f.Sync() // not while it is measured
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(path)
		return "", fmt.Errorf("writing %s: %w", path, err)
	}
	return path, nil
}

// logFile writes a capture's log as often as it takes for so many bytes, once at
// least. It unpacks it each time anew, to need little memory.
func (s *setup) logFile(capture string, size int64) (string, error) {
	if err := s.needRoom(size); err != nil {
		return "", err
	}
	return s.writeFile(capture+".log", func(w io.Writer) error {
		for written := int64(0); written == 0 || written < size; {
			r, closeFile, err := openPacked(capture, "asm.log")
			if err != nil {
				return err
			}
			n, err := io.Copy(w, r)
			closeFile()
			if err != nil {
				return err
			}
			written += n
		}
		return nil
	})
}

// samplesFile writes so many samples, a capture's again and again; 0 is those of
// the capture, once.
func (s *setup) samplesFile(capture string, n int64) (string, error) {
	const line = 160 // bytes, at most, on average
	if err := s.needRoom(n * line); err != nil {
		return "", err
	}
	r, closeFile, err := openPacked(capture, "samples.txt")
	if err != nil {
		return "", err
	}
	defer closeFile()
	text, err := io.ReadAll(r)
	if err != nil {
		return "", fmt.Errorf("unpacking the samples of %s: %w", capture, err)
	}
	return s.writeFile(fmt.Sprintf("%s-%d.txt", capture, n), func(w io.Writer) error {
		if n == 0 {
			_, err := w.Write(text)
			return err
		}
		t, err := newSampleText(text)
		if err != nil {
			return err
		}
		return t.writeTo(w, n)
	})
}
