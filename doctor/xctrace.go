package doctor

import (
	"context"
	"strings"

	"github.com/gasm-profiler/gasm/sampler/collect"
)

// checkXCTrace looks for xctrace, which is a part of Xcode. It is not tried: a recording takes it ten seconds and more.
func checkXCTrace(ctx context.Context) samplerResult {
	path, err := collect.FindXCTrace(ctx)
	if err != nil {
		cause, mend := explain(err)
		return samplerResult{cause: "xctrace: " + cause, mend: mend, checks: []Finding{{"xctrace", "found", Note, cause, mend}}}
	}
	// "xctrace version 26.0 (17A324)"
	stdout, stderr, err := run(ctx, "xcrun", "xctrace", "version")
	version, ok := strings.CutPrefix(firstLine(stdout), "xctrace version ")
	if err != nil || !ok {
		cause := "it does not run: " + firstLine(stderr+"\n"+stdout)
		const mend = "sudo xcodebuild -license accept && sudo xcodebuild -runFirstLaunch"
		return samplerResult{cause: "xctrace: " + cause, mend: mend, checks: []Finding{{"xctrace", "found", Problem, cause, mend}}}
	}
	return samplerResult{works: true, event: collect.XCTraceEvent(), checks: []Finding{{"xctrace", "found", OK, path + ", version " + version + "; needs no root, and was not tried", ""}}}
}
