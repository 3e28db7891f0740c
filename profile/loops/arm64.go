package loops

import (
	"regexp"
	"strings"
)

var (
	// armRegister matches the names of registers that only aarch64 has.
	armRegister = regexp.MustCompile(`^(?:[wx](?:[0-9]|[12][0-9]|30|zr)|v[0-9]+\.[0-9]*[bhsd]|z[0-9]+\.[bhsd])$`)
	// armVector matches a whole vector register: v3.4s has 128 bits, v3.2s has 64, and the width of z3.s is not known.
	armVector = regexp.MustCompile(`\b(?:v[0-9]+\.(16b|8h|4s|2d)|v[0-9]+\.(8b|4h|2s|1d)|(z[0-9]+\.[bhsd]))\b`)
	armFloat  = regexp.MustCompile(`^f[a-z0-9]+\s+[sd][0-9]+,`)
	armStack  = regexp.MustCompile(`\[sp(?:, #|\])`)
)

// countARM adds an instruction of aarch64 to the facts about a loop.
func countARM(f *Facts, text string) {
	name := mnemonicOf(text)
	switch v := armVector.FindStringSubmatch(text); {
	case v == nil, name == "movi", name == "dup", name == "umov", name == "mov", name == "ins":
		f.Scalar = f.Scalar || armFloat.MatchString(text) && name != "fmov"
	case v[3] != "":
		f.Vector = -1
	case v[1] != "" && f.Vector >= 0:
		f.Vector = max(f.Vector, 128)
	case f.Vector >= 0:
		f.Vector = max(f.Vector, 64)
	}
	if armStack.MatchString(text) {
		if strings.HasPrefix(name, "st") {
			f.Spills++
		} else if strings.HasPrefix(name, "ld") {
			f.Reloads++
		}
	}
	// A loop that copies an array loads and stores whole registers: ldp q0, q1, [x10].
	if (strings.HasPrefix(name, "ld") || strings.HasPrefix(name, "st")) &&
		strings.HasPrefix(strings.TrimSpace(text[len(name):]), "q") && f.Vector >= 0 {
		f.Vector = max(f.Vector, 128)
	}
}
