// Package htmlpage has what gasm's HTML pages share: how they look, and what they may do.
//
// Each page is one file that a browser opens from disk. Its style sheet is [Style] with the
// page's own behind it; report/page says which classes there are.
package htmlpage

import (
	"crypto/sha256"
	_ "embed" // for the style sheet
	"encoding/base64"
	"fmt"
)

// Style is the style sheet of all pages.
//
//go:embed page.css
var Style string

// Policy is a page's Content-Security-Policy: nothing is fetched from anywhere, and no
// script runs but the page's own. Bars have their lengths in style attributes.
func Policy(style, script string) string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return fmt.Sprintf("default-src 'none'; base-uri 'none'; form-action 'none'; script-src %s; style-src %s; style-src-attr 'unsafe-inline'",
		hash(script), hash(style))
}
