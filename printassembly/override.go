package printassembly

import "strings"

// overriding are options that undo what CaptureFlags asks for.
var overriding = []string{"-XX:LogFile=", "-XX:-LogVMOutput", "-XX:-PrintAssembly", "-XX:+DisplayVMOutput", "-XX:-UnlockDiagnosticVMOptions"}

// Overrides finds the first of a JVM's options that would keep gasm from its log if it
// came behind [CaptureFlags], such as -XX:LogFile=mine.log; "" without one.
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
