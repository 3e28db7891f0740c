package sdt

import (
	"fmt"
	"strings"
)

// A Method is a Java method that gets a probe at its entry and another one at its return.
type Method struct {
	Class      string // with slashes, as in class files, or with dots: "org/acme/Svc$Inner"
	Name       string // "tiny", "<init>"
	Descriptor string // "(ILjava/lang/String;)V"
	Static     bool
}

// maxName is the maximum length in bytes of the name that ProbeName returns. DTrace accepts names of up to 63 bytes.
// The longest suffix, "__return", has 8 bytes; DTrace shows it as "-return", which has 7. maxSymbol is the maximum
// length of a symbol in bytes.
const (
	entrySuffix, returnSuffix = "__entry", "__return"

	maxName   = 63 - len("-return")
	maxSymbol = 120
)

// stringType is the descriptor of String. Tracers get the text of a String, and only a number for values of other
// types.
const stringType = "Ljava/lang/String;"

// Probes returns the two probes of a method. The entry gets the given site, and the return gets the next one.
func (m Method) Probes(site int) (entry, ret Probe, err error) {
	parameters, result, err := parseDescriptor(m.Descriptor)
	if err != nil {
		return Probe{}, Probe{}, fmt.Errorf("%s.%s: %w", m.Class, m.Name, err)
	}
	entry = Probe{Site: site, Name: m.ProbeName() + entrySuffix, Symbol: m.symbol(parameters), Values: []Value{Number}}
	for _, p := range parameters {
		if len(entry.Values) < MaxValues {
			entry.Values = append(entry.Values, valueOf(p))
		}
	}
	ret = Probe{Site: site + 1, Name: m.ProbeName() + returnSuffix, Symbol: entry.Symbol,
		Values: []Value{Number, valueOf(result), Text}}
	return entry, ret, nil
}

// Parameters returns the types of the parameters in Java's syntax with their packages, such as "java.lang.String[]".
func (m Method) Parameters() (types []string, err error) {
	parameters, _, err := parseDescriptor(m.Descriptor)
	for _, p := range parameters {
		types = append(types, longType(p))
	}
	return types, err
}

func valueOf(descriptor string) Value {
	if descriptor == stringType {
		return Text
	}
	return Number
}

// ProbeName returns the common prefix of the names of the method's two probes: "Svc.tiny", "Outer.Inner.init". It
// consists of the class's name without its package and the method's name. Characters that are not ASCII, or that have a
// meaning in a tracer's language, are replaced. A name of more than maxName bytes loses its beginning.
func (m Method) ProbeName() string {
	class := m.Class[strings.LastIndexAny(m.Class, "/.")+1:]
	name := plain(class) + "." + plain(strings.Trim(m.Name, "<>"))
	if len(name) > maxName {
		name = strings.TrimLeft(name[len(name)-maxName:], ".0123456789")
	}
	return name
}

// plain replaces all characters except ASCII letters, ASCII digits and underscores. It replaces '$' with a full stop,
// and any other character with an underscore.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		case r == '$':
			return '.'
		}
		return '_'
	}, name)
}

// symbol returns the method written as a function: "org.acme.Svc.tiny(int,String)". If the text has more than maxSymbol
// bytes, its beginning is cut off.
func (m Method) symbol(parameters []string) string {
	var types []string
	for _, p := range parameters {
		types = append(types, shortType(p))
	}
	symbol := strings.Map(func(r rune) rune {
		if r == '/' {
			return '.'
		}
		if r <= ' ' || r > '~' || r == ':' {
			return '_'
		}
		return r
	}, m.Class+"."+m.Name+"("+strings.Join(types, ",")+")")
	return symbol[max(0, len(symbol)-maxSymbol):]
}

var primitives = map[byte]string{'Z': "boolean", 'B': "byte", 'C': "char", 'S': "short", 'I': "int", 'J': "long",
	'F': "float", 'D': "double", 'V': "void"}

// shortType returns a descriptor's type without its package: "[Ljava/lang/String;" becomes "String[]".
func shortType(descriptor string) string {
	name := longType(descriptor)
	return name[strings.LastIndexByte(name, '.')+1:]
}

// longType returns a descriptor's type: "[Ljava/lang/String;" becomes "java.lang.String[]".
func longType(descriptor string) string {
	element := strings.TrimLeft(descriptor, "[")
	name := primitives[element[0]]
	if element[0] == 'L' {
		name = strings.ReplaceAll(element[1:len(element)-1], "/", ".")
	}
	return name + strings.Repeat("[]", len(descriptor)-len(element))
}

// parseDescriptor parses a method's descriptor: "(ILjava/lang/String;)V" has the parameters "I" and
// "Ljava/lang/String;" and the result "V".
func parseDescriptor(descriptor string) (parameters []string, result string, err error) {
	bad := fmt.Errorf("%q is not a method's descriptor", descriptor)
	rest, ok := strings.CutPrefix(descriptor, "(")
	for ok && !strings.HasPrefix(rest, ")") {
		n := typeLength(rest)
		if n == 0 || rest[0] == 'V' {
			return nil, "", bad
		}
		parameters = append(parameters, rest[:n])
		rest = rest[n:]
	}
	if !ok || len(rest) < 2 || typeLength(rest[1:]) != len(rest)-1 {
		return nil, "", bad
	}
	return parameters, rest[1:], nil
}

// typeLength returns the length in bytes of the type descriptor at the beginning of a text. If the text does not begin
// with a type descriptor, it returns 0.
func typeLength(text string) int {
	n := len(text) - len(strings.TrimLeft(text, "["))
	switch {
	case n == len(text):
		return 0
	case text[n] == 'L':
		end := strings.IndexByte(text[n:], ';')
		if end < 2 {
			return 0
		}
		return n + end + 1
	case primitives[text[n]] == "" || text[n] == 'V' && n > 0:
		return 0
	}
	return n + 1
}
