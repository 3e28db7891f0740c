//go:build !linux

package jcmd

import (
	"context"
	"errors"
)

// Run has a JVM run a command of jcmd. It works on Linux alone.
func Run(ctx context.Context, pid int, command string) (string, error) {
	return "", errors.New("gasm talks to running JVMs on Linux alone: use jcmd")
}

// LoadAgent has a JVM load a Java agent. It works on Linux alone.
func LoadAgent(ctx context.Context, pid int, jar, argument string) error {
	return errors.New("gasm talks to running JVMs on Linux alone: start the program with gasm profile")
}
