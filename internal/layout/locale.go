package layout

import (
	"os"
	"strings"
)

// A Locale is the environment variable that says how text is encoded. Both fields are "" if no such variable is set.
type Locale struct {
	Variable string // "LC_ALL"
	Value    string // "C.UTF-8"
}

// UserLocale returns the locale that setlocale(3) would choose: that of the first of the variables LC_ALL, LC_CTYPE and
// LANG that is not empty.
func UserLocale() Locale {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := os.Getenv(name); value != "" {
			return Locale{name, value}
		}
	}
	return Locale{}
}

// UTF8 reports whether the locale can show box-drawing characters. An environment without a locale is more often a
// container or CI than an old terminal, so UTF8 returns true for it.
func (l Locale) UTF8() bool {
	value := strings.ToLower(l.Value)
	return value == "" || strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
}
