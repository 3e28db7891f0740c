//go:build !linux

package doctor

import "context"

// checkAttach tells that there is no attaching: only Linux lets gasm read memory.
func (j *foundJDK) checkAttach(_ context.Context, area, _ string) (attached, events Finding) {
	return Finding{area, "attach", Note, "gasm attach is for Linux alone", ""},
		Finding{area, "events", OK, "from HotSpot's log (gc, safepoint) of JDK 9 and newer; Flight Recorder's are for Linux alone", ""}
}
