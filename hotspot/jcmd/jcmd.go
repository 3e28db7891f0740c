package jcmd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// Run has a JVM run a command of jcmd, with its arguments, and returns what it prints. It waits until the JVM has done it,
// or ctx is done. A command that the JVM refuses is a *FailedError.
func Run(ctx context.Context, p *foreign.Process, command string) (string, error) {
	text, err := request(command)
	if err != nil {
		return "", err
	}
	return exchange(ctx, p, command, text)
}

// LoadAgent has a JVM load a Java agent, and call its agentmain with an argument. It returns when that is done. The jar's
// path is that of the JVM, which may have another root than gasm.
func LoadAgent(ctx context.Context, p *foreign.Process, jar, argument string) error {
	text, err := operation("load", "instrument", "false", jar+"="+argument)
	if err != nil {
		return err
	}
	reply, err := exchange(ctx, p, "load", text)
	if err != nil {
		return err
	}
	return agentLoaded(p.PID(), reply)
}

// maxCommand is how long a command may be (AttachOperation::arg_length_max).
const maxCommand = 1024

// maxReply is how much of an answer is read. What gasm asks for has some lines.
const maxReply = 1 << 20

// A FailedError is a command that the JVM has refused, or failed to do.
type FailedError struct {
	PID     int
	Command string
	Reply   string // what the JVM says
}

func (e *FailedError) Error() string {
	reply := e.Brief()
	if reply == "" {
		reply = "it does not say why"
	}
	return fmt.Sprintf("the JVM with pid %d did not do %s: %s", e.PID, commandName(e.Command), reply)
}

// maxShown is how much of an answer is shown in a message, in bytes. What a JVM refuses takes a line.
const maxShown = 400

// Brief returns the beginning of what the JVM says, in one line.
func (e *FailedError) Brief() string {
	reply := strings.Join(strings.Fields(e.Reply[:min(len(e.Reply), 8*maxShown)]), " ")
	if len(reply) > maxShown {
		reply = strings.ToValidUTF8(reply[:maxShown], "") + fmt.Sprintf(" … (%d bytes in all)", len(e.Reply))
	}
	return reply
}

// ErrEnded is wrapped by the error of a JVM that has ended before it answered.
var ErrEnded = foreign.ErrEnded

// A NotToldError is a command that the JVM has not got: it does nothing of it, now or later.
type NotToldError struct {
	PID int
	Err error // why
}

func (e *NotToldError) Error() string {
	return fmt.Sprintf("the JVM with pid %d can't be told anything: %v", e.PID, e.Err)
}

func (e *NotToldError) Unwrap() error { return e.Err }

// commandName is a command without its arguments, for messages.
func commandName(command string) string {
	name, _, _ := strings.Cut(command, " ")
	return name
}

// Quote makes a value that may stand behind "name=" in a command. HotSpot knows quotation marks of both kinds, and no way to
// write one within its own kind.
func Quote(value string) (string, error) {
	switch {
	case strings.ContainsAny(value, "\n\x00"):
		return "", fmt.Errorf("%q can't be told to a JVM, because it has more than one line", value)
	case !strings.ContainsAny(value, " \t'\",="):
		return value, nil
	case !strings.Contains(value, `"`):
		return `"` + value + `"`, nil
	case !strings.Contains(value, "'"):
		return "'" + value + "'", nil
	}
	return "", fmt.Errorf("%s can't be told to a JVM, because it has both kinds of quotation marks", value)
}

// request is what is written for a command of jcmd.
func request(command string) ([]byte, error) {
	if command == "" {
		return nil, errors.New("there is no command for the JVM")
	}
	return operation("jcmd", command, "", "")
}

// operation is what is written for an operation with its three arguments.
func operation(name string, arguments ...string) ([]byte, error) {
	for _, a := range arguments {
		switch {
		case strings.Contains(a, "\x00"):
			return nil, fmt.Errorf("%q can't be told to a JVM", a)
		case len(a) > maxCommand:
			return nil, fmt.Errorf("the JVM reads commands of at most %d bytes, and this one has %d: take a shorter folder name", maxCommand, len(a))
		}
	}
	return []byte("1\x00" + name + "\x00" + strings.Join(arguments, "\x00") + "\x00"), nil
}

// agentLoaded finds out whether the JVM has loaded an agent. The answer to "load" is 0 whatever comes of it, and then text: JDK 8
// prints a number, newer ones "return code: 0", or why they did nothing.
func agentLoaded(pid int, text string) error {
	text = strings.TrimSpace(text)
	if text == "0" || text == "return code: 0" {
		return nil
	}
	return &FailedError{pid, "load", text}
}

// parseReply takes an answer apart.
func parseReply(pid int, command string, reply []byte) (string, error) {
	code, text, found := strings.Cut(string(reply), "\n")
	if _, err := strconv.Atoi(code); err != nil || !found {
		return "", fmt.Errorf("the JVM with pid %d gave no answer to %s that gasm knows: %.100q", pid, commandName(command), reply)
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if code != "0" {
		return "", &FailedError{pid, command, text}
	}
	return text, nil
}
