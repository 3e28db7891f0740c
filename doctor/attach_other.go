//go:build !linux

package doctor

import "context"

// checkAttach returns findings that say that gasm attach does not work, because gasm can read the memory of another
// process only on Linux.
func (j *foundJDK) checkAttach(_ context.Context, area, _ string) (attached, events Finding) {
	return Finding{area, "attach", Note, "gasm attach works only on Linux", ""},
		Finding{area, "events", OK, "from HotSpot's log (gc, safepoint) of JDK 9 and newer; Flight Recorder's only on Linux",
			""}
}

// checkWall returns a finding that gasm can't look at the threads of JVMs on this system.
func (j *foundJDK) checkWall(_ context.Context, area, _ string) Finding {
	return Finding{area, "wall", Note, "--wall works on Linux only", ""}
}

// checkStacks returns a finding that says that gasm can't record call stacks on this system.
func (j *foundJDK) checkStacks(_ context.Context, area, _ string) Finding {
	return Finding{area, "stacks", Note, "gasm records call stacks only on Linux", ""}
}
