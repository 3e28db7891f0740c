//go:build !linux

package doctor

import "context"

// checkAttach tells that there is no attaching: only Linux lets gasm read memory.
func (j *foundJDK) checkAttach(_ context.Context, area, _ string) Finding {
	return Finding{area, "attach", Note, "gasm attach is for Linux alone", ""}
}
