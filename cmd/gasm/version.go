package main

import (
	"runtime/debug"
	"strings"
)

// version is set by the linker (-X main.version=…), which sets only variables without an initial value. If the linker
// did not set it, init takes the version that the go command has recorded in the binary.
var version string

func init() {
	if version == "" {
		version = builtVersion(debug.ReadBuildInfo())
	}
}

// builtVersion returns the version of a gasm binary that was built without make. The go command records in the binary
// the version of `go install …@v1.2.3`, or, for a build in a clone, a pseudo-version with the commit.
func builtVersion(info *debug.BuildInfo, ok bool) string {
	if ok && strings.HasPrefix(info.Main.Version, "v") {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return "development build"
}
