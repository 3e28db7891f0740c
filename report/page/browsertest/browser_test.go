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

// browsers are names of browsers that chromedp can drive. The first one is Debian's.
var browsers = []string{"chromium", "google-chrome", "chromium-browser"}

// chrome is the browser that all tests share, because it takes a second to start. Each test has a tab of its own.
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

// needBrowser returns the running browser. It skips the test if there is none.
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
		// Root can't use the sandbox, and containers lack what it needs. The pages are gasm's own.
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
