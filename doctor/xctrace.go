package doctor

import (
	"context"
	"strings"

	"github.com/gasm-profiler/gasm/sampler/collect/xctrace"
)

// checkXCTrace looks for xctrace, which is a part of Xcode. It does not try a recording, which would take ten seconds
// or more.
func checkXCTrace(ctx context.Context) samplerResult {
	path, err := xctrace.Find(ctx)
	if err != nil {
		cause, todo := explain(err)
		return samplerResult{cause: "xctrace: " + cause, fix: todo,
			checks: []Finding{{"xctrace", "found", Note, cause, todo}}}
	}
	// "xctrace version 26.0 (17A324)"
	stdout, stderr, err := run(ctx, "xcrun", "xctrace", "version")
	version, ok := strings.CutPrefix(firstLine(stdout), "xctrace version ")
	if err != nil || !ok {
		cause := "it does not run: " + firstLine(stderr+"\n"+stdout)
		const todo = "sudo xcodebuild -license accept && sudo xcodebuild -runFirstLaunch"
		return samplerResult{cause: "xctrace: " + cause, fix: todo,
			checks: []Finding{{"xctrace", "found", Problem, cause, todo}}}
	}
	return samplerResult{works: true, event: xctrace.DefaultEvent(),
		checks: []Finding{{"xctrace", "found", OK, path + ", version " + version + "; needs no root, and was not tried", ""}}}
}
