package javasource

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// maxLists is the maximum size, in bytes, of the lists of files that are read from archives. All jars on a class path
// together have this limit, and so has each archive of sources. If the limit is exceeded, no further archive is opened.
// The list of a jar has about 100 bytes for each file, and takes three times as much in memory.
const maxLists = 128 << 20

// The type lists counts bytes: how much has been read so far of the lists of files of several archives.
type lists int64

// archive opens a zip file. Package zip reads the whole list of files, and reserves memory for the number of files that
// the zip file states. If the zip file is a sparse file of terabytes, that can be more memory than any machine has, so
// the number is checked first.
func (l *lists) archive(file io.ReaderAt, size int64) (*zip.Reader, error) {
	if err := checkRecords(file, size); err != nil {
		return nil, err
	}
	counted := &countedReader{ReaderAt: file, read: l}
	archive, err := zip.NewReader(counted, size)
	counted.listed = true
	return archive, err
}

// A countedReader counts the bytes that package zip reads for the list of files, and returns an error when there are
// more than maxLists. When the list has been read, the field listed is set to true, and further reads are not counted.
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

var errLongList = fmt.Errorf("the lists of files of all archives have more than %d MiB", maxLists>>20)

// Sizes in a zip file, in bytes.
const (
	endSize     = 22       // of the record at the end, without its comment
	endSearched = 65 << 10 // package zip searches this much at the end of the file for that record
	locatorSize = 20       // of the locator, which has the offset of the zip64 record
	largeSize   = 56       // of the zip64 record, which has the number of files in 64 bits
	entrySize   = 46       // of an entry of the list of files, without its name
)

// checkRecords returns an error if a zip file states that it has more files than fit into its size, or more than
// maxEntries. Only a zip64 file can state such a number, because in other zip files the number has 16 bits. The number
// is in a record at the end of the file. A comment may follow, which can contain something that looks like such a
// record. So all records that package zip may use are checked.
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
