package names

import "strings"

// SourcePath returns the path of a method's source file below the root of the sources. For example, it returns
// "java/util/HashMap.java" for java.util.HashMap$Node::<init>. It assumes that each source file is in the folder of
// its package. file is the file's name. If it is "", SourcePath derives the name from the outermost class, because
// javac requires that name for public classes. It returns "" if it can't derive a name.
func SourcePath(method, file string) string {
	class, _, ok := strings.Cut(method, "::")
	if !ok {
		return ""
	}
	class, _, _ = strings.Cut(class, "/") // without the number at the end of a hidden class's name
	dot := strings.LastIndexByte(class, '.') + 1
	outer, _, _ := strings.Cut(class[dot:], "$")
	switch {
	case file != "":
	case outer == "":
		return "" // a class that was made at run time: $Proxy7
	default:
		file = outer + ".java"
	}
	return strings.ReplaceAll(class[:dot], ".", "/") + file
}
