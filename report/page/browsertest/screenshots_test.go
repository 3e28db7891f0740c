package browsertest

import (
	"bytes"
	"cmp"
	"flag"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The documents' pictures of pages.
var screenshots = []struct {
	name string
	open func(t *testing.T, l look) *tab
}{
	{"overview", func(t *testing.T, l look) *tab { return open(t, reportPage(t, "spread"), "", l) }},
	{"code", func(t *testing.T, l look) *tab { return openCode(t, l) }},
	{"calls", func(t *testing.T, l look) *tab { return openCalls(t, "#g=flame", l) }},
	{"diff", func(t *testing.T, l look) *tab { return open(t, diffPage(t), "#t0-c0", l) }},
}

const (
	screenshotWidth, screenshotHeight = 1240, 760
	maxScreenshot                     = 150_000 // bytes
)

// TestScreenshots checks that docs/page.md and docs/diff.md have pictures of all views, light and dark. With -update,
// it writes the pictures. They differ between machines, because fonts do.
func TestScreenshots(t *testing.T) {
	var documents []byte
	for _, name := range []string{"page.md", "diff.md"} {
		text, err := os.ReadFile(filepath.Join(root(), "docs", name))
		require.NoError(t, err)
		documents = append(documents, text...)
	}
	for _, s := range screenshots {
		for mode, l := range map[string]look{"light": {}, "dark": {dark: true}} {
			name := s.name + "-" + mode + ".png"
			t.Run(s.name+" "+mode, func(t *testing.T) {
				path := filepath.Join(root(), "docs", name)
				if flag.Lookup("update").Value.String() == "true" {
					l.width, l.height = screenshotWidth, screenshotHeight
					takeScreenshot(t, s.open(t, l), path)
				}
				text, err := os.ReadFile(path)
				require.NoError(t, err)
				assert.LessOrEqual(t, len(text), maxScreenshot)
				picture, err := png.DecodeConfig(bytes.NewReader(text))
				require.NoError(t, err)
				assert.Equal(t, []int{screenshotWidth, screenshotHeight}, []int{picture.Width, picture.Height})
				assert.Contains(t, string(documents), `="`+name+`"`)
			})
		}
	}
}

// takeScreenshot writes the visible part of the page into a file, compressed as much as possible.
func takeScreenshot(t *testing.T, p *tab, path string) {
	t.Helper()
	shot := call(p, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng})
	picture, err := png.Decode(bytes.NewReader(shot.Data))
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, paletted(picture)))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o644))
}

// paletted reduces a picture to 256 of its colours: the most frequent ones that differ enough. The other colours are at
// the edges of letters, where the nearest one suffices. A small area with a distinct colour keeps it.
func paletted(picture image.Image) *image.Paletted {
	bounds := picture.Bounds()
	counts := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA) }
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			counts[at(x, y)]++
		}
	}
	colors := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var palette color.Palette
	index := map[color.RGBA]uint8{}
	for _, c := range colors {
		alike := func(p color.Color) bool { return distance(p.(color.RGBA), c) < 12 }
		if len(palette) < 256 && !slices.ContainsFunc(palette, alike) {
			palette = append(palette, c)
		}
		index[c] = uint8(palette.Index(c))
	}
	out := image.NewPaletted(bounds, palette)
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			out.SetColorIndex(x, y, index[at(x, y)])
		}
	}
	return out
}

// distance returns the sum of the differences of two colours in all channels.
func distance(a, b color.RGBA) int {
	apart := func(x, y uint8) int { return max(int(x), int(y)) - min(int(x), int(y)) }
	return apart(a.R, b.R) + apart(a.G, b.G) + apart(a.B, b.B)
}
