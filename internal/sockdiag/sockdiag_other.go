//go:build !linux

package sockdiag

import "errors"

// LastReceived returns an error: it works on Linux only.
func LastReceived(uint16) (Time, error) {
	return Time{}, errors.New("when a connection received data is known on Linux only")
}
