//go:build !linux

package gasmtest

import "errors"

func nativeWorks() error { return errors.New("only Linux has it") }
