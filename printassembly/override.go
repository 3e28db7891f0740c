package printassembly

import "strings"

// overriding lists the beginnings of the options that undo what CaptureFlags sets.
var overriding = []string{"-XX:LogFile=", "-XX:-LogVMOutput", "-XX:-PrintAssembly", "-XX:+DisplayVMOutput",
	"-XX:-UnlockDiagnosticVMOptions"}

// Overrides returns the first of a JVM's options that would keep gasm from getting its log if the option came after
// [CaptureFlags], such as -XX:LogFile=mine.log. It returns "" if there is no such option.
func Overrides(options string) string {
	for option := range strings.FieldsSeq(options) {
		for _, start := range overriding {
			if strings.HasPrefix(strings.Trim(option, `"'`), start) {
				return option
			}
		}
	}
	return ""
}
