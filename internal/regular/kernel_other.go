//go:build !linux

package regular

import "os"

// kernelSystem returns "": only Linux has such file systems.
func kernelSystem(*os.File) string { return "" }
