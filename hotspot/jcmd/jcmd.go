package jcmd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/foreign"
)

// Run makes a JVM run a command of jcmd with its arguments, and returns the command's output. It waits until the JVM
// has answered or ctx is done. If the JVM refuses the command, the error is a *FailedError.
func Run(ctx context.Context, p *foreign.Process, command string) (string, error) {
	text, err := request(command)
	if err != nil {
		return "", err
	}
	return exchange(ctx, p, command, text)
}

// LoadAgent makes a JVM load a Java agent and call its agentmain with an argument. It returns when agentmain has
// returned. The jar's path is resolved in the JVM, whose root folder may differ from gasm's.
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

// maxCommand is the maximum length of a command in bytes (AttachOperation::arg_length_max).
const maxCommand = 1024

// maxReply limits the number of bytes that are read from an answer. The answers to gasm's commands have only a few
// lines.
const maxReply = 1 << 20

// A FailedError means that the JVM has refused a command, or failed to execute it.
type FailedError struct {
	PID     int
	Command string
	Reply   string // the JVM's answer
}

func (e *FailedError) Error() string {
	reply := e.Brief()
	if reply == "" {
		reply = "it does not say why"
	}
	return fmt.Sprintf("the JVM with pid %d did not do %s: %s", e.PID, commandName(e.Command), reply)
}

// maxShown limits the number of bytes of an answer that are quoted in an error message. A JVM usually says in one line
// why it refuses a command.
const maxShown = 400

// Brief returns the beginning of the JVM's answer as one line.
func (e *FailedError) Brief() string {
	reply := strings.Join(strings.Fields(e.Reply[:min(len(e.Reply), 8*maxShown)]), " ")
	if len(reply) > maxShown {
		reply = strings.ToValidUTF8(reply[:maxShown], "") + fmt.Sprintf(" … (%d bytes in all)", len(e.Reply))
	}
	return reply
}

// ErrEnded is wrapped in this package's errors if the JVM ended before it answered.
var ErrEnded = foreign.ErrEnded

// A NotToldError means that the JVM has not received the command, so the JVM will not execute it later either.
type NotToldError struct {
	PID int
	Err error // why the JVM did not receive it
}

func (e *NotToldError) Error() string {
	return fmt.Sprintf("the JVM with pid %d can't be told anything: %v", e.PID, e.Err)
}

func (e *NotToldError) Unwrap() error { return e.Err }

// commandName returns a command without its arguments, for messages.
func commandName(command string) string {
	name, _, _ := strings.Cut(command, " ")
	return name
}

// Quote returns a value in the form in which it must follow "name=" in a command. HotSpot accepts single and double
// quotation marks, but has no way to escape a mark inside a text that is quoted with the same kind of mark.
func Quote(value string) (string, error) {
	switch {
	case strings.ContainsAny(value, "\n\x00"):
		return "", fmt.Errorf("%q can't be passed to a JVM, because it has more than one line", value)
	case !strings.ContainsAny(value, " \t'\",="):
		return value, nil
	case !strings.Contains(value, `"`):
		return `"` + value + `"`, nil
	case !strings.Contains(value, "'"):
		return "'" + value + "'", nil
	}
	return "", fmt.Errorf("%s can't be passed to a JVM, because it has both kinds of quotation marks", value)
}

// request returns the bytes that a client writes to the JVM's socket to make it run a command of
// jcmd.
func request(command string) ([]byte, error) {
	if command == "" {
		return nil, errors.New("there is no command for the JVM")
	}
	return operation("jcmd", command, "", "")
}

// operation returns the bytes that a client writes to the JVM's socket for an operation of the protocol. The protocol
// requires three arguments.
func operation(name string, arguments ...string) ([]byte, error) {
	for _, a := range arguments {
		switch {
		case strings.Contains(a, "\x00"):
			return nil, fmt.Errorf("%q can't be passed to a JVM", a)
		case len(a) > maxCommand:
			return nil, fmt.Errorf(
				"the JVM reads commands of at most %d bytes, and this one has %d: use a shorter folder name",
				maxCommand, len(a))
		}
	}
	return []byte("1\x00" + name + "\x00" + strings.Join(arguments, "\x00") + "\x00"), nil
}

// agentLoaded returns nil if the JVM has loaded an agent. Only the text of the JVM's answer to "load" shows that,
// because the number in the answer is always 0. In JDK 8 the text is a number, too. In newer releases it is "return
// code: 0", or the reason of a failure.
func agentLoaded(pid int, text string) error {
	text = strings.TrimSpace(text)
	if text == "0" || text == "return code: 0" {
		return nil
	}
	return &FailedError{pid, "load", text}
}

// parseReply splits an answer into its number and its text. It returns the text, and a *FailedError
// if the number is not 0.
func parseReply(pid int, command string, reply []byte) (string, error) {
	code, text, found := strings.Cut(string(reply), "\n")
	if _, err := strconv.Atoi(code); err != nil || !found {
		return "", fmt.Errorf("the JVM with pid %d gave an unknown answer to %s: %.100q", pid,
			commandName(command), reply)
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if code != "0" {
		return "", &FailedError{pid, command, text}
	}
	return text, nil
}
