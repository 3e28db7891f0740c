package disasm

// An opcodeReason is why Decode and objdump differ about some opcodes.
type opcodeReason struct {
	name string // in known.txt
	fits func(difference) bool
}

var opcodeReasons = []opcodeReason{
	{"reserved", func(d difference) bool { return d.wantBad }},
	{"unknown", func(d difference) bool { return d.gotUnknown }},
	{"spelling", func(d difference) bool { return true }},
}
