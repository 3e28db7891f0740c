package probe

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// folderHead is the beginning of the name of a Session's folder. The JVM's own process id follows and, if another user
// has taken that name, 128 random bits.
const folderHead = "gasm-probes-"

var folderName = regexp.MustCompile(`^` + folderHead + `[0-9]{1,10}(-[0-9a-f]{32})?$`)

// ErrTaken is wrapped by the error of [Load] if another user has taken the name of the folder.
var ErrTaken = errors.New("the folder for the agent's files can't be used")

// Places returns paths of the folder for the next Session with a JVM, as the JVM sees them. The first one is the same each
// time, because the JVM adds the path of each agent to its class path and keeps it. Anyone can make a folder of that name
// in /tmp, and then [Load] fails with ErrTaken. The second one is for this case: nobody can guess it.
func Places(ownPID int) []string {
	secret := make([]byte, 16)
	_, _ = rand.Read(secret) // it never fails
	plain := fmt.Sprint("/tmp/", folderHead, ownPID)
	return []string{plain, plain + "-" + hex.EncodeToString(secret)}
}

// IsFolder reports whether a path, as the JVM sees it, is that of a Session's folder.
func IsFolder(path string) bool {
	name, ok := strings.CutPrefix(path, "/tmp/")
	return ok && folderName.MatchString(name)
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
