package javasource

import (
	"archive/zip"
	"bytes"
	"io"
	"path"
	"slices"
	"strings"
)

// nestedFolders are the directories in the jar of a Spring Boot or web application that contain the jars of its
// libraries: BOOT-INF/lib/kotlin-stdlib-2.0.21.jar.
var nestedFolders = []string{"BOOT-INF/lib/", "WEB-INF/lib/", "WEB-INF/lib-provided/"}

// maxNestedEntries is the maximum number of files that all libraries of a program may have together. If they have more,
// no further libraries are opened. A hostile jar can contain the same library under many names, and the list of files
// takes memory for each of them.
const maxNestedEntries = 500_000

// nestedJars returns the jars inside a jar that are in one of nestedFolders.
func nestedJars(outer *zip.Reader) (jars []*zip.File) {
	for _, f := range outer.File[:min(len(outer.File), maxEntries)] {
		in := func(folder string) bool { return strings.HasPrefix(f.Name, folder) }
		if strings.HasSuffix(f.Name, ".jar") && slices.ContainsFunc(nestedFolders, in) {
			jars = append(jars, f)
		}
	}
	return jars
}

// openNested opens the next jar inside the jar that was opened last. It returns false if no further jar is there, or a
// limit is reached.
func (c *classPath) openNested() bool {
	for len(c.nested) > 0 && len(c.open) < maxClassPath && c.nestedEntries < maxNestedEntries {
		entry := c.nested[0]
		c.nested = c.nested[1:]
		jar, err := c.left.nested(entry, &c.lists)
		if err != nil {
			continue // it is damaged or too large; its classes stay unknown
		}
		c.nestedEntries += len(jar.File)
		name := path.Base(entry.Name)
		c.open = append(c.open, classRoot{&zipFile{name: name, archive: jar, file: io.NopCloser(nil)}, name})
		return true
	}
	c.nested = nil
	return false
}

// nested opens a jar inside a jar. Spring Boot stores nested jars without compression, so they are read in place. A
// compressed jar is unpacked into memory.
func (a *allowance) nested(entry *zip.File, l *lists) (*zip.Reader, error) {
	if entry.Method == zip.Store {
		raw, err := entry.OpenRaw()
		if err != nil {
			return nil, err
		}
		if section, ok := raw.(io.ReaderAt); ok {
			return l.archive(section, int64(entry.CompressedSize64))
		}
	}
	file, err := entry.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, int64(*a)+1))
	if *a -= allowance(len(data)); *a < 0 {
		*a = 0
		return nil, errSpent
	}
	if err != nil {
		return nil, err
	}
	return l.archive(bytes.NewReader(data), int64(len(data)))
}
