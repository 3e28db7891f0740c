package printassembly

import (
	"bytes"
	"strings"
)

// HotSpot's debug info does not have the name of the file that a class was compiled from. gasm reads it from the
// JVM's memory for each class in the frames of a method that it copies, and writes it after the method, once per
// class. The name is that of the class file's attribute SourceFile, which does not contain directories:
//
//	<source_file class='kotlin.collections.ArraysKt___ArraysKt' name='_Arrays.kt'/>
var sourceFileTag = []byte("<source_file ")

// AppendSourceFile appends a line with the tag <source_file …/> to text. The name of the class has
// the same form as in frames.
func AppendSourceFile(text []byte, class, file string) []byte {
	text = append(append(text, sourceFileTag...), "class='"...)
	text = append(append(text, Escape(class)...), "' name='"...)
	return append(append(text, Escape(file)...), "'/>\n"...)
}

// sourceFile reads a line with the tag <source_file …/>. Two class loaders may have classes of the same name from
// different files; the first one wins.
func (h *Header) sourceFile(tag []byte) {
	class, file := attr(tag, "class"), attr(tag, "name")
	if len(class) == 0 || len(file) == 0 || len(class) > maxName || len(file) > maxName ||
		len(h.SourceFiles) >= maxClasses {
		return
	}
	if h.SourceFiles == nil {
		h.SourceFiles = map[string]string{}
	}
	if name := nameText(class); h.SourceFiles[name] == "" {
		h.SourceFiles[name] = unescape(file)
	}
}

const (
	// maxClasses limits the number of classes whose source files a Header has. No program has hot code in so many
	// classes. The source files of further classes are ignored.
	maxClasses = 1 << 18
	// maxClassPath is the length in bytes above which a class path is ignored. Linux allows 128 kB for a class path
	// on the command line, but a class path in an argument file may be longer.
	maxClassPath = 1 << 20
)

// property reads a line of <properties>, the JVM's system properties at its start:
//
//	java.class.path=lib/scala-library-2.13.14.jar:target/classes
func (h *Header) property(line []byte) {
	if value, ok := bytes.CutPrefix(line, []byte(classPathProperty)); ok && len(value) <= maxClassPath {
		h.ClassPath = unescape(value)
	}
}

const classPathProperty = "java.class.path="

// Properties returns the part of a log's header that holds the JVM's system properties. That part has only the class
// path, the one property that this package reads. Properties returns "" if the class path is empty or can't be written
// on one line.
func Properties(classPath string) string {
	if classPath == "" || strings.ContainsAny(classPath, "\r\n") {
		return ""
	}
	return "<properties>\n" + classPathProperty + Escape(classPath) + "\n</properties>\n"
}
