package javasource

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// maxLists is an upper bound for the lists of files of all jars on a class path, and for that of each archive of
// sources, in bytes. Beyond it, no further archive is opened. A jar has about 100 bytes for each file, and takes three
// times as much memory.
const maxLists = 128 << 20

// lists is how many bytes of archives' lists of files were read.
type lists int64

// archive opens a zip file. Package zip reads the whole list of files, and reserves memory for as many files as the
// zip file says that it has. In a sparse file of terabytes, that can be more than any machine has, so the number is
// checked before.
func (l *lists) archive(file io.ReaderAt, size int64) (*zip.Reader, error) {
	if err := checkRecords(file, size); err != nil {
		return nil, err
	}
	counted := &countedReader{ReaderAt: file, read: l}
	archive, err := zip.NewReader(counted, size)
	counted.listed = true
	return archive, err
}

// A countedReader returns an error if more is read than may be, until the list of files was read.
type countedReader struct {
	io.ReaderAt
	read   *lists
	listed bool
}

func (c *countedReader) ReadAt(p []byte, offset int64) (int, error) {
	if c.listed {
		return c.ReaderAt.ReadAt(p, offset)
	}
	if int64(*c.read)+int64(len(p)) > maxLists {
		return 0, errLongList
	}
	n, err := c.ReaderAt.ReadAt(p, offset)
	*c.read += lists(n)
	return n, err
}

var errLongList = fmt.Errorf("the lists of files of all archives have more than %d MB", maxLists>>20)

// Sizes in a zip file, in bytes.
const (
	endSize     = 22       // of the record at the end, without its comment
	endSearched = 65 << 10 // in which package zip looks for that record
	locatorSize = 20       // of what says where the record of a large zip file is; it precedes the record at the end
	largeSize   = 56       // of that record
	entrySize   = 46       // of an entry of the list of files, without its name
)

// checkRecords returns an error if a zip file says that it has more files than can be in it, or more than maxEntries.
// Only a large zip file (zip64) can say so, because the number has 16 bits in others. All records that package zip may
// take for the one at the end are looked at.
func checkRecords(file io.ReaderAt, size int64) error {
	tail := make([]byte, min(size, endSearched+locatorSize))
	if n, err := file.ReadAt(tail, size-int64(len(tail))); n < len(tail) {
		return fmt.Errorf("reading the end of the archive: %w", err)
	}
	for end := len(tail) - endSize; end >= locatorSize; end-- {
		locator := tail[end-locatorSize : end]
		if !bytes.HasPrefix(tail[end:], []byte("PK\x05\x06")) || !bytes.HasPrefix(locator, []byte("PK\x06\x07")) {
			continue
		}
		at := int64(binary.LittleEndian.Uint64(locator[8:]))
		var record [largeSize]byte
		if at < 0 || at > size-largeSize {
			return zip.ErrFormat
		}
		if _, err := file.ReadAt(record[:], at); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		records := max(binary.LittleEndian.Uint64(record[24:]), binary.LittleEndian.Uint64(record[32:]))
		if records > maxEntries || records > uint64(size)/entrySize {
			return fmt.Errorf("its list of files is damaged or too long: it says that there are %d", records)
		}
	}
	return nil
}
