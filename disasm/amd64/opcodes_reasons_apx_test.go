package amd64

import (
	"regexp"
	"strings"
)

// isREX2 reports whether the opcode is D5, the prefix REX2.
func isREX2(d difference) bool { return d.code[opcodeAt(d)] == rex2Prefix }

// isMarked reports whether the texts only differ in the prefixes and marks before the mnemonic.
func isMarked(d difference) bool { return afterMarks(d.want) == afterMarks(d.got) }

// afterMarks returns a text without prefixes and marks.
func afterMarks(text string) string { return text[strings.Index(text, mnemonic(text)):] }

var highVector = regexp.MustCompile(`xmm(1[6-9]|2[0-9]|3[01])`)

// isHighVector reports whether an operand in objdump's text is one of the registers xmm16 to xmm31.
func isHighVector(d difference) bool { return highVector.MatchString(d.want) }
