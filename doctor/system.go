package doctor

import (
	"context"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// checkSystem returns findings that describe this machine.
func checkSystem(ctx context.Context) []Finding {
	text := runtime.GOOS
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		text = unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:]) + ", " +
			unix.ByteSliceToString(u.Machine[:])
	}
	name := osRelease()["PRETTY_NAME"]
	if runtime.GOOS == "darwin" {
		version, _, _ := run(ctx, "sw_vers", "-productVersion")
		name = "macOS " + firstLine(version)
	}
	if name != "" {
		text = name + ", " + text
	}
	checks := []Finding{{"system", "os", OK, text, ""}}
	switch runtime.GOOS {
	case "linux":
		if container := thisKernel().container; container != "" {
			checks = append(checks, Finding{"system", "container", OK, "this looks like a container (" + container + ")", ""})
		}
	case "darwin":
	default:
		checks[0].Status = Problem
		checks[0].Text += ": gasm profiles on Linux and macOS only; 'gasm report' works here"
	}
	return checks
}

// osRelease returns the values in os-release(5), such as ID, ID_LIKE and PRETTY_NAME.
func osRelease() map[string]string {
	text := readTrimmed("/etc/os-release")
	if text == "" {
		text = readTrimmed("/usr/lib/os-release")
	}
	return parseOSRelease(text)
}

// parseOSRelease parses lines such as ID=debian and PRETTY_NAME="Debian GNU/Linux 12".
func parseOSRelease(text string) map[string]string {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			values[key] = strings.Trim(value, `"'`)
		}
	}
	return values
}

// installJDK returns the command that installs a JDK on the Linux distribution that release describes, or on macOS.
func installJDK(release map[string]string) string {
	if runtime.GOOS == "darwin" {
		return "brew install --cask temurin"
	}
	for _, id := range append([]string{release["ID"]}, strings.Fields(release["ID_LIKE"])...) {
		switch id {
		case "debian", "ubuntu":
			return "sudo apt install default-jdk-headless"
		case "fedora":
			return "sudo dnf install java-latest-openjdk-devel"
		case "rhel", "centos":
			return "sudo dnf install java-21-openjdk-devel"
		case "suse", "opensuse":
			return "sudo zypper install java-21-openjdk-devel"
		case "arch":
			return "sudo pacman -S jdk-openjdk"
		case "alpine":
			return "sudo apk add openjdk21"
		}
	}
	return "install one, from https://adoptium.net"
}
