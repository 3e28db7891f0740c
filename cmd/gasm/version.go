package main

import (
	"runtime/debug"
	"strings"
)

// version is set by the linker: -X main.version=… It does so for a variable without a value alone. Without that it is what the go
// command knows.
var version string

func init() {
	if version == "" {
		version = builtVersion(debug.ReadBuildInfo())
	}
}

// builtVersion is the version of a gasm that was built without make. Of `go install …@v1.2.3` the go command notes that
// version, and of a build in a clone a pseudo-version, with the commit.
func builtVersion(info *debug.BuildInfo, ok bool) string {
	if ok && strings.HasPrefix(info.Main.Version, "v") {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return "development build"
}
