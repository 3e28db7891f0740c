package names

import "strings"

// SourcePath returns the path of a method's source file below the root of the sources: "java/util/HashMap.java" for
// java.util.HashMap$Node::<init>. It assumes that the file is in the folder of its package. file is the file's name. If
// file is "", the name is derived from that of the outermost class, as javac requires it for public classes. SourcePath
// returns "" if no name can be derived.
func SourcePath(method, file string) string {
	class, _, ok := strings.Cut(method, "::")
	if !ok {
		return ""
	}
	class, _, _ = strings.Cut(class, "/") // without the number of a hidden class
	dot := strings.LastIndexByte(class, '.') + 1
	outer, _, _ := strings.Cut(class[dot:], "$")
	switch {
	case file != "":
	case outer == "":
		return "" // made at run time: $Proxy7
	default:
		file = outer + ".java"
	}
	return strings.ReplaceAll(class[:dot], ".", "/") + file
}
