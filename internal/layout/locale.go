package layout

import (
	"os"
	"strings"
)

// A Locale is the setting of the environment that says how text is encoded. Both parts
// are "" where there is none.
type Locale struct {
	Variable string // "LC_ALL"
	Value    string // "C.UTF-8"
}

// UserLocale gives the locale by the rules of setlocale(3): of these variables, the
// first one that is not empty counts.
func UserLocale() Locale {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := os.Getenv(name); value != "" {
			return Locale{name, value}
		}
	}
	return Locale{}
}

// UTF8 tells whether the locale can show box-drawing characters. An environment without
// a locale is that of a container or of CI more often than that of an old terminal. It
// is taken for UTF-8.
func (l Locale) UTF8() bool {
	value := strings.ToLower(l.Value)
	return value == "" || strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
}
