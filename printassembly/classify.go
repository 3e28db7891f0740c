package printassembly

import "bytes"

// A lineClass says what a line means to the index. The function [classify] finds the class of a
// line.
type lineClass uint8

const (
	// idleLine has no meaning to the index, wherever it is. An example is [Verified Entry Point].
	idleLine lineClass = iota
	// rowLine is a line within a blob's code: an empty line, or one that begins with two blanks. Most are comments.
	rowLine
	// codeLine is a rowLine with an address. Most are rows of code:
	//	  0x00007efcf8ece120:   call   0x00007efd102f3600
	codeLine
	// partLine has the address range of a part of a method:
	//	 main code      [0x00007fae08ed77a0,0x00007fae08ed7900] = 352
	partLine
	// tagLine starts with "<": <writer thread='2504'/>
	tagLine
	// machCodeLine is "[MachCode]", after which the blob's code comes as bytes.
	machCodeLine
	// compiledLine starts with "Compiled method (".
	compiledLine
	// decodingLine starts with "Decoding ".
	decodingLine
	// handlerLine starts with "argument handler #".
	handlerLine
	// rangedLine may begin a stub or a codelet, because it ends in "bytes" or "bytes)":
	//	StubRoutines::libmLog [0x…, 0x…] (631 bytes)
	rangedLine
	// textLine is any other line. It matters only if it is the text of an element of the log's header, such as <args>.
	textLine
)

// The beginnings of lines by which some classes are recognized.
var (
	totalPart      = []byte(" total in heap ")
	mainCodePart   = []byte(" main code ")
	stubCodePart   = []byte(" stub code ")
	machCodeMark   = []byte("[MachCode]")
	compiledPrefix = []byte("Compiled method (")
	decodingPrefix = []byte("Decoding ")
	handlerPrefix  = []byte("argument handler #")
)

// classify returns the class of a line without its line end.
func classify(line []byte) lineClass {
	if len(line) == 0 {
		return rowLine
	}
	if len(line) > 1 && line[0] == ' ' && line[1] == ' ' { // true for nearly all lines
		if len(line) > 3 && line[2] == '0' && line[3] == 'x' {
			return codeLine
		}
		return rowLine
	}
	switch line[0] {
	case ' ':
		if bytes.HasPrefix(line, mainCodePart) || bytes.HasPrefix(line, stubCodePart) ||
			bytes.HasPrefix(line, totalPart) {
			return partLine
		}
		return idleLine
	case '<':
		if idleTag(line[1:]) {
			return idleLine
		}
		return tagLine
	case '[':
		if bytes.HasPrefix(line, machCodeMark) {
			return machCodeLine
		}
		return idleLine
	case '-', '=':
		// A ruler ("-----"), or "- - - [END] - - -". But "-XX:+UseSerialGC" may be the text of <args>.
		if len(line) > 2 && line[2] == line[0] && (line[1] == line[0] || line[1] == ' ') {
			return idleLine
		}
		return textLine
	}
	switch {
	case bytes.HasPrefix(line, compiledPrefix):
		return compiledLine
	case bytes.HasPrefix(line, decodingPrefix):
		return decodingLine
	case bytes.HasPrefix(line, handlerPrefix):
		return handlerLine
	case bytes.HasSuffix(line, []byte(" bytes")), bytes.HasSuffix(line, []byte(" bytes)")):
		return rangedLine
	}
	return textLine
}

// idleTag reports whether a tag is of one of the kinds that LogCompilation writes most often within a <task>. Such tags
// have neither a stamp nor a name that the index needs. tag is the line after its "<".
func idleTag(tag []byte) bool {
	if i := bytes.IndexByte(tag, ' '); i >= 0 {
		tag = tag[:i]
	}
	switch string(tag) {
	case "bc", "branch", "call", "dependency", "inline_fail", "inline_success", "intrinsic", "klass", "loop", "/loop>",
		"loop_tree>", "/loop_tree>", "method", "type", "/print_nmethod>":
		return true
	}
	return false
}

// trimCR removes the '\r' at the end of a line, if there is one. In a log that was saved on
// Windows, every line ends with '\r'.
func trimCR(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}
