package probe

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"regexp"
)

// folderHead is the beginning of the name of a Session's folder. The JVM's own process id follows and, if another user
// has taken that name, 128 random bits.
const folderHead = "gasm-probes-"

const secret = `[0-9a-f]{32}`

var (
	// Older releases of gasm had no folder inside of the one in /tmp.
	folderPath = regexp.MustCompile(`^(/tmp/` + folderHead + `[0-9]{1,10}(?:-` + secret + `)?)(?:/(` + secret + `))?$`)
	secretName = regexp.MustCompile(`^` + secret + `$`)
)

// IsFolder reports whether a path, as the JVM sees it, is that of a Session's folder.
func IsFolder(path string) bool { return folderPath.MatchString(path) }

// split returns the path of the outer folder, and the name of the one inside of it; "" if there is none.
func split(path string) (outer, inner string) {
	m := folderPath.FindStringSubmatch(path)
	return m[1], m[2]
}

// ErrTaken is wrapped by the error of [Load] if another user has taken the name of the folder.
var ErrTaken = errors.New("the folder for the agent's files can't be used")

// Places returns paths of the folder for the next Session with a JVM, as the JVM sees them. It is inside another folder,
// and what the JVM writes for as long as it has probes is in it:
//
//	/tmp/gasm-probes-4711/90c1…
//
// The first path's name in /tmp is the same each time, because the JVM adds the path of each agent to its class path and
// keeps it. Anyone can make a folder of that name, and then [Load] fails with ErrTaken. The second path is for this case:
// nobody can guess it.
//
// The last name can't be guessed either, and only the JVM's user sees it. A cleaner of /tmp may remove everything, and
// then anyone can make a folder of the first name again. The JVM, which still has the path, finds nothing in that one,
// such as links through which it would overwrite files of its user's.
func Places(ownPID int) []string {
	plain := fmt.Sprint("/tmp/", folderHead, ownPID)
	return []string{path.Join(plain, newSecret()), path.Join(plain+"-"+newSecret(), newSecret())}
}

func newSecret() string {
	random := make([]byte, 16)
	_, _ = rand.Read(random) // it never fails
	return hex.EncodeToString(random)
}

// ownFiles matches the names of all files that a Session and its JVM create in its folder.
var ownFiles = regexp.MustCompile(
	`^(agent\.jar|agent\.classes|probes|sites\.so|error|probes-[0-9]{1,10}\.(ring|txt)|java-[0-9]{1,10}(\.[0-9]{1,10})?\.so)$`)

// A LeftError means that probes may be left in a JVM. Its folder stays, so that they can be removed later ([EndLeft]).
type LeftError struct {
	PID int
	Err error // what went wrong
}

func (e *LeftError) Error() string {
	return fmt.Sprintf("the probes of the JVM with pid %d may not all be removed: %v", e.PID, e.Err)
}

func (e *LeftError) Unwrap() error { return e.Err }
