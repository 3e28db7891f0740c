//go:build !linux

package sockdiag

import "errors"

// LastReceived is Linux's.
func LastReceived(uint16) (Time, error) {
	return Time{}, errors.New("only Linux tells when a connection received data")
}
