package layout

import "testing"

func TestUserLocale(t *testing.T) {
	check := func(all, ctype, lang, variable string, utf8 bool) {
		t.Helper()
		t.Setenv("LC_ALL", all)
		t.Setenv("LC_CTYPE", ctype)
		t.Setenv("LANG", lang)
		l := UserLocale()
		if l.Variable != variable || l.UTF8() != utf8 {
			t.Errorf("%q, %q, %q: got %v, UTF-8 %v, want the one of %q, %v", all, ctype, lang, l, l.UTF8(), variable, utf8)
		}
	}
	check("", "", "", "", true)
	check("", "", "de_DE.utf8", "LANG", true)
	check("", "UTF-8", "C", "LC_CTYPE", true) // as on macOS
	check("C", "", "C.UTF-8", "LC_ALL", false)
	check("", "", "de_DE.ISO-8859-1", "LANG", false)
}
