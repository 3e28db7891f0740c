package browsertest

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// browsers are names of programs that understand chromedp. Debian has the first one.
var browsers = []string{"chromium", "google-chrome", "chromium-browser"}

// chrome is the browser that all tests share, each with a tab of its own. It takes a second
// to start.
var chrome struct {
	sync.Mutex
	ctx  context.Context
	stop func()
}

func TestMain(m *testing.M) {
	code := m.Run()
	if chrome.stop != nil {
		chrome.stop()
	}
	os.RemoveAll(built.dir)
	os.Exit(code)
}

// needBrowser gives the running browser. It skips the test where there is none.
func needBrowser(t *testing.T) context.Context {
	t.Helper()
	chrome.Lock()
	defer chrome.Unlock()
	if chrome.ctx != nil {
		return chrome.ctx
	}
	var path string
	for _, name := range browsers {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no chromium on PATH: scripts/setup.sh installs it")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		// Root can't have the sandbox, and containers lack what it needs. The pages are gasm's own.
		chromedp.NoSandbox,
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"), // no test depends on a network
		chromedp.WSURLReadTimeout(time.Minute),                  // the machine may be busy
	)
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocator)
	require.NoError(t, chromedp.Do(ctx), "starting %s", path)
	chrome.ctx, chrome.stop = ctx, func() { stop(); stopAllocator() }
	return ctx
}
