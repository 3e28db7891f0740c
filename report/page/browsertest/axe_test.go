package browsertest

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// axeSum is the SHA-256 of axe.min.js of axe-core 4.14.1.
const axeSum = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"

// needAxe returns the script of axe-core, which checks pages by the rules of WCAG.
func needAxe(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(gasmtest.Testdata("axe", "axe.min.js"))
	if err != nil {
		t.Skip("no testdata/axe/axe.min.js: scripts/setup.sh installs it")
	}
	sum := sha256.Sum256(text)
	require.Equal(t, axeSum, hex.EncodeToString(sum[:]),
		"another axe-core: remove testdata/axe, and scripts/setup.sh installs the right one")
	return string(text)
}

// A violation is a rule that a page breaks, as axe-core reports it.
type violation struct {
	ID    string   `json:"id"`
	Help  string   `json:"help"`
	Nodes []string `json:"nodes"`
}

// What axe-core checks. If pages differ only in their colours, one of them is checked by all rules. A dialog
// makes the rest of the page unreachable.
const (
	everything = `document, { resultTypes: ["violations"] }`
	colours    = `document, { resultTypes: ["violations"], runOnly: ["color-contrast"] }`
	theDialog  = `document.querySelector("dialog[open]"), { resultTypes: ["violations"] }`
)

// checkAxe runs axe-core. It also checks how many rules held, because a check of an empty page finds nothing.
func checkAxe(t *testing.T, p *tab, axe, what string) {
	t.Helper()
	// The page's policy forbids other scripts, but the browser's protocol may run one.
	if !eval[bool](p, `"axe" in window`) {
		eval[bool](p, axe+"; true")
	}
	found := eval[struct {
		Passes     int         `json:"passes"`
		Violations []violation `json:"violations"`
	}](p, `axe.run(`+what+`).then((r) => ({ passes: r.passes.length,
		violations: r.violations.map((v) => ({ id: v.id, help: v.help, nodes: v.nodes.slice(0, 4).map((n) => n.html.slice(0, 200) + " " + (n.any[0]?.message ?? "")) })) }))`)
	least := 1
	if what == everything {
		least = 20
	}
	assert.GreaterOrEqual(t, found.Passes, least, "rules that hold")
	for _, v := range found.Violations {
		t.Errorf("%s: %s: %q", v.ID, v.Help, v.Nodes)
	}
}

// The page meets axe-core's rules, among them those about contrast and about what can be reached by keyboard.
func TestAccessible(t *testing.T) {
	needBrowser(t)
	axe := needAxe(t)
	path := reportPage(t, "sort", "--instructions", "150") // axe-core checks every element, visible or not
	for name, l := range map[string]look{"light": {}, "dark": {dark: true}} {
		for view, hash := range map[string]string{"overview": "", "code": "#c1"} {
			t.Run(name+" "+view, func(t *testing.T) {
				p := open(t, path, hash, l)
				call(p, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true})
				if name == "dark" {
					checkAxe(t, p, axe, colours)
					return
				}
				checkAxe(t, p, axe, everything)
				if view == "overview" {
					return
				}
				for _, key := range []string{"?", "/"} {
					p.press(key)
					p.awaits(`!!document.querySelector("dialog[open]")`)
					checkAxe(t, p, axe, theDialog)
					p.do(run(`document.querySelector("dialog[open]").close()`))
				}
			})
		}
	}
}
