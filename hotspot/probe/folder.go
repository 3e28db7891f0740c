package probe

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"regexp"
)

// folderHead is the beginning of the name of a Session's folder. The JVM's process id in its own
// PID namespace follows. If another user has already taken that name, 128 random bits are added to
// it.
const folderHead = "gasm-probes-"

const secret = `[0-9a-f]{32}`

var (
	// The inner folder is optional, because older releases of gasm had only the folder in /tmp.
	folderPath = regexp.MustCompile(`^(/tmp/` + folderHead + `[0-9]{1,10}(?:-` + secret + `)?)(?:/(` + secret + `))?$`)
	secretName = regexp.MustCompile(`^` + secret + `$`)
)

// IsFolder reports whether a path, as the JVM sees it, has the form of a Session's folder ([Places]).
func IsFolder(path string) bool { return folderPath.MatchString(path) }

// split splits the path of a Session's folder into the path of the outer folder, and the name of the folder inside it.
// inner is "" if there is only one folder.
func split(path string) (outer, inner string) {
	m := folderPath.FindStringSubmatch(path)
	return m[1], m[2]
}

// ErrTaken is wrapped by the error of [Load] if another user has taken the name of the folder.
var ErrTaken = errors.New("the folder for the agent's files can't be used")

// Places returns two possible paths of the folder for the next Session with a JVM, as the JVM sees
// them. As long as the JVM has probes, it writes its files there. The folder is inside another one:
//
//	/tmp/gasm-probes-4711/90c1…
//
// In the first path, the outer folder has the same name for every Session. With a new name each
// time, the JVM's class path would grow, because the JVM adds the path of each agent to it and
// never removes one. But anyone can make a folder of that name, and then [Load] fails with
// ErrTaken. In this case use the second path: nobody can guess the name of its outer folder.
//
// The name of the inner folder can't be guessed either, and only the JVM's user can see it. That
// matters if a cleaner of /tmp removes both folders while the JVM goes on writing to these paths.
// Another user could then create the outer folder again. If they also knew the name of the inner
// folder, they could put links into it, and the JVM would overwrite files of its own user.
func Places(ownPID int) []string {
	plain := fmt.Sprint("/tmp/", folderHead, ownPID)
	return []string{path.Join(plain, newSecret()), path.Join(plain+"-"+newSecret(), newSecret())}
}

func newSecret() string {
	random := make([]byte, 16)
	_, _ = rand.Read(random) // crypto/rand's Read never returns an error
	return hex.EncodeToString(random)
}

// ownFiles matches the names of all files that a Session and its JVM create in its folder.
var ownFiles = regexp.MustCompile(
	`^(agent\.jar|agent\.classes|probes|sites\.so|error|probes-[0-9]{1,10}\.(ring|txt)|java-[0-9]{1,10}(\.[0-9]{1,10})?\.so)$`)

// A LeftError means that probes may be left in a JVM. The folder of the Session stays, so that the probes can be
// removed later ([EndLeft]).
type LeftError struct {
	PID int
	Err error // what went wrong
}

func (e *LeftError) Error() string {
	return fmt.Sprintf("the probes of the JVM with pid %d may not all be removed: %v", e.PID, e.Err)
}

func (e *LeftError) Unwrap() error { return e.Err }
