//go:build !linux

package inotify

import "errors"

// An instance does not exist on systems other than Linux.
type instance struct{}

func openInstance(func()) (*instance, error)  { return nil, errors.ErrUnsupported }
func (i *instance) close()                    {}
func (i *instance) addNewFiles(string) error  { return errors.ErrUnsupported }
func (i *instance) addNextWrite(string) error { return errors.ErrUnsupported }
func (i *instance) addOpens(string) error     { return errors.ErrUnsupported }
