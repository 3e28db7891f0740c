package probe

import (
	"regexp"
	"strings"
)

// folderHead is what the name of a Session's folder begins with. The JVM's own process id follows.
const folderHead = "gasm-probes-"

var folderName = regexp.MustCompile(`^` + folderHead + `[0-9]{1,10}$`)

// IsFolder tells whether a path, as a JVM has it, is that of a Session's folder.
func IsFolder(path string) bool {
	name, ok := strings.CutPrefix(path, "/tmp/")
	return ok && folderName.MatchString(name)
}
