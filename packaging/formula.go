package main

import (
	_ "embed"
	"io"
	"os"
	"path/filepath"
	"text/template"
)

//go:embed gasm.rb.tmpl
var formulaText string

// formula is the template of the formula for Homebrew. The formula has the addresses and the checksums of the archives.
var formula = template.Must(template.New("gasm.rb").Parse(formulaText))

// writeFormula writes the formula for Homebrew. It writes nothing if the archive for one of the formula's platforms is
// missing.
func (r *release) writeFormula() error {
	sums := map[string]string{}
	for _, platform := range [][2]string{{"darwin", "arm64"}, {"darwin", "amd64"}, {"linux", "arm64"},
		{"linux", "amd64"}} {
		sum, err := sha256Of(filepath.Join(r.out, r.archiveName(platform[0], platform[1])+".tar.gz"))
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		sums[platform[0]+"_"+platform[1]] = sum
	}
	return create(filepath.Join(r.out, "gasm.rb"), func(w io.Writer) error {
		return formula.Execute(w, map[string]any{"Version": r.version, "Homepage": homepage, "Sums": sums})
	})
}
