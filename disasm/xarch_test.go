package disasm

import (
	"encoding/hex"
	"testing"
)

// unhex reads the hexadecimal digits of a test's table.
func unhex(digits string) []byte {
	code, err := hex.DecodeString(digits)
	if err != nil {
		panic(err)
	}
	return code
}

// otherSets are instructions of the sets that have no capture, each at pc, as the assemblers of GNU binutils make them.
var otherSets = []struct {
	arch   Arch
	code   string
	text   string
	kind   Kind
	target uint64
}{}

func TestOtherSets(t *testing.T) {
	for _, c := range otherSets {
		got, err := Decode(c.arch, ATT, unhex(c.code), pc)
		if err != nil {
			t.Fatal(err)
		}
		if join(got) != c.text || got[0].Kind != c.kind || got[0].Target != c.target {
			t.Errorf("%s: %s: got %q, kind %d, target %#x, want %+v", c.arch, c.code, join(got), got[0].Kind, got[0].Target, c)
		}
	}
}
