package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gasm-profiler/gasm/bench/multiply"
)

// capturesFolder is the directory with the captures that bench makes reports of.
const capturesFolder = "testdata/captures"

// Names of the files in a capture's directory. In this repository these files are compressed, so ".gz" is added to
// their names.
const (
	logName     = "asm.log"
	samplesName = "samples.txt"
)

// openPacked opens a gzip-compressed file of a capture and returns a reader of the uncompressed bytes. The caller must
// call the returned function closeFile afterwards.
func openPacked(capture, file string) (r io.Reader, closeFile func(), err error) {
	path := filepath.Join(capturesFolder, capture, file+".gz")
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, missing("there is no %s here: run it in the root of the repository", path)
	}
	if err != nil {
		return nil, nil, err
	}
	r, err = gzip.NewReader(f)
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, func() { f.Close() }, nil
}

// writeFile creates a file in the temporary directory, fills it with the given function, and returns its path. If the
// file can't be written completely, it is removed.
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
		err = f.Sync() // so that the disk is not busy writing it during the measurement
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(path)
		return "", fmt.Errorf("writing %s: %w", path, err)
	}
	return path, nil
}

// logFile writes a file with the log of a capture, repeated until the file has at least as many bytes as the parameter
// size says. If size is 0, the file has the log once. logFile unpacks the log for each repetition instead of keeping it
// in memory, because bench must stay small (see run).
func (s *setup) logFile(capture string, size int64) (path string, err error) {
	if err := s.needRoom(size); err != nil {
		return "", err
	}
	return s.writeFile(capture+".log", func(w io.Writer) error {
		for written := int64(0); written == 0 || written < size; {
			r, closeFile, err := openPacked(capture, logName)
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

// samplesFile writes a file with n samples. It repeats the samples of a capture as often as necessary, and each
// repetition has later times than the one before. If n is 0, the file has the capture's samples unchanged.
func (s *setup) samplesFile(capture string, n int64) (path string, err error) {
	const lineLength = 160 // in bytes; the average line is not longer
	if err := s.needRoom(n * lineLength); err != nil {
		return "", err
	}
	r, closeFile, err := openPacked(capture, samplesName)
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
		t, err := multiply.New(text)
		if err != nil {
			return err
		}
		return t.Write(w, n)
	})
}
