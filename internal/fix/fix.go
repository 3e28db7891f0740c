// Package fix is for errors and notes that tell the user what to do about a problem. They keep this advice separate
// from the description of the problem. gasm prints both on one line, while `gasm doctor` and its JSON show them
// separately:
//
//	kernel samples are not visible: sudo sysctl kernel.perf_event_paranoid=1
//	|---- Note.Text -------------|  |---- Note.Fix -----------------------|
//
// So no code has to search a printed message for the advice in it.
package fix

import (
	"errors"
	"strings"
)

// A Note tells the user that gasm could not do something as asked. Unlike an error, it does not stop gasm's work.
type Note struct {
	Text string // "kernel samples are not visible"
	Fix  string // a command or, if there is none, advice; "" if nothing helps
}

// String returns the note as one sentence, which ends with the fix.
func (n Note) String() string { return join(n.Text, n.Fix) }

// Texts returns the notes as sentences. It returns nil if there are no notes.
func Texts(notes []Note) (texts []string) {
	for _, n := range notes {
		texts = append(texts, n.String())
	}
	return texts
}

// An Error is an error that the user can do something about.
type Error struct {
	Err error
	Fix string // a command or, if there is none, advice
}

// Error returns the text of e.Err with the fix at its end.
func (e *Error) Error() string { return join(e.Err.Error(), e.Fix) }

// Unwrap returns e.Err.
func (e *Error) Unwrap() error { return e.Err }

// Parts returns the text of e.Err, and the fix.
func (e *Error) Parts() (cause, fix string) { return e.Err.Error(), e.Fix }

// A parted error separates its cause from its fix. [Error] and the errors of samplers are such errors.
type parted interface {
	error
	Parts() (cause, fix string)
}

// Of returns the fix that [Parts] returns for an error. It is "" if there is none.
func Of(err error) string {
	var e parted
	if !errors.As(err, &e) {
		return ""
	}
	_, fix := e.Parts()
	return fix
}

// Parts splits an error into what went wrong and what to do about it. It looks in err's tree for the first error that
// has a method Parts. The fix is that error's fix. The cause is that error's cause, with the text of the errors that
// wrap it. For example, an [Error] "it belongs to root" with the fix "run gasm as root" may be wrapped in an error "JVM
// 4711 can't be read: %w". Then the cause is "JVM 4711 can't be read: it belongs to root". Both results are "" if err
// is nil.
func Parts(err error) (cause, fix string) {
	if err == nil {
		return "", ""
	}
	var e parted
	if !errors.As(err, &e) {
		return err.Error(), ""
	}
	if cause, fix = e.Parts(); e == err {
		return cause, fix
	}
	return strings.Replace(err.Error(), e.Error(), cause, 1), fix
}

func join(text, fix string) string {
	if fix == "" {
		return text
	}
	return text + ": " + fix
}
