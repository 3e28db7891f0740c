package printassembly

import (
	"bytes"
	"strings"
)

// What HotSpot's debug info does not tell is the file that a class was made from. gasm
// takes its name out of the JVM's memory, for each class that is in frames of a method that
// it copies, and writes it behind the method, once. It is the class file's SourceFile
// attribute, which has no folders:
//
//	<source_file class='kotlin.collections.ArraysKt___ArraysKt' name='_Arrays.kt'/>
var sourceFileTag = []byte("<source_file ")

// AppendSourceFile appends such a line. The class has its name as frames have it.
func AppendSourceFile(text []byte, class, file string) []byte {
	text = append(append(text, sourceFileTag...), "class='"...)
	text = append(append(text, Escape(class)...), "' name='"...)
	return append(append(text, Escape(file)...), "'/>\n"...)
}

// sourceFile takes such a line. Class loaders may have classes of one name from different
// files; the first one counts.
func (h *Header) sourceFile(tag []byte) {
	class, file := attr(tag, "class"), attr(tag, "name")
	if len(class) == 0 || len(file) == 0 || len(class) > maxName || len(file) > maxName || len(h.SourceFiles) >= maxClasses {
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
	// maxClasses is more classes than have hot code in any program.
	maxClasses = 1 << 18
	// maxClassPath is longer than a class path on a command line can be, in bytes: Linux allows
	// 128 kB. Files of arguments may have more.
	maxClassPath = 1 << 20
)

// property takes a line of <properties>, which are those of the JVM at its start:
//
//	java.class.path=lib/scala-library-2.13.14.jar:target/classes
func (h *Header) property(line []byte) {
	if value, ok := bytes.CutPrefix(line, []byte(classPathProperty)); ok && len(value) <= maxClassPath {
		h.ClassPath = unescape(value)
	}
}

const classPathProperty = "java.class.path="

// Properties is what a log's header has of the properties of a JVM, as far as they are read.
func Properties(classPath string) string {
	if classPath == "" || strings.ContainsAny(classPath, "\r\n") {
		return ""
	}
	return "<properties>\n" + classPathProperty + Escape(classPath) + "\n</properties>\n"
}
