//go:build !linux

package regular

import "os"

// kernelSystem gives "": only Linux shows what the kernel knows as files.
func kernelSystem(*os.File) string { return "" }
