package record

import (
	"os"
	"testing"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

func TestMain(m *testing.M) {
	if code, isHolder := Hold(); isHolder {
		os.Exit(code)
	}
	gasmtest.ProtectTmp()
	os.Exit(m.Run())
}
