// Package htmlpage has what gasm's HTML pages share: their style sheet, their security policy, the
// scripts that draw flame graphs, and the input of these scripts ([Calls]).
//
// Each page is one file that a browser opens from disk. Its style sheet is [Style], followed by the
// page's own styles. The comment of package report/page lists the CSS classes.
package htmlpage

import (
	"crypto/sha256"
	_ "embed" // for the style sheet
	"encoding/base64"
	"fmt"
	"strings"
)

// Style is the style sheet of all pages.
//
//go:embed page.css
var Style string

// CallTree and FlameGraph are scripts that define classes of these names. A CallTree is a tree of calls with their
// samples, and a FlameGraph draws it.
var (
	//go:embed calltree.js
	CallTree string
	//go:embed flame.js
	FlameGraph string
)

// Policy returns a page's Content-Security-Policy. With it, the browser fetches nothing, and runs
// only the page's own scripts. Style attributes are allowed, because they set the lengths of bars.
func Policy(style string, scripts ...string) string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	hashes := make([]string, len(scripts))
	for i, s := range scripts {
		hashes[i] = hash(s)
	}
	return fmt.Sprintf("default-src 'none'; base-uri 'none'; form-action 'none'; script-src %s; style-src %s; style-src-attr 'unsafe-inline'",
		strings.Join(hashes, " "), hash(style))
}
