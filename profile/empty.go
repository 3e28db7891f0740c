package profile

import (
	"errors"
	"fmt"
)

// ErrAsleep means that there is no sample because the JVMs that gasm was attached to used no CPU time. Nothing has gone
// wrong, but the capture is not worth keeping.
var ErrAsleep = errors.New("no samples at all: the JVM used no CPU time while it was sampled")

// WhyEmpty returns an error if no profile has a sample. The error says where all samples went instead. WhyEmpty returns
// nil if there is a sample, if probed methods have counted calls, or if there are wall-clock times of threads (see
// [Profile.Waits]).
func (ps *Profiles) WhyEmpty() error {
	var a Account
	for _, p := range ps.Trials {
		if len(p.Probes) > 0 && p.Accounts != nil && ps.builder != nil && ps.builder.methodWindows == nil &&
			ps.builder.inside == nil {
			return nil // calls were counted
		}
		if p.Waits != nil && p.Waits.Account.Profiled > 0 {
			return nil // there is something to report, even if no thread ever ran
		}
		for _, account := range p.Accounts {
			if account.Profiled > 0 {
				return nil
			}
			a = account
		}
	}
	switch {
	case a.Total == 0 && ps.Capture.Attached:
		return ErrAsleep
	case a.Total == 0:
		return errors.New("no samples at all: the sampler saw nothing of the command")
	case a.OtherProcess == a.Total-a.Lost:
		return fmt.Errorf("all %d samples are of other processes, not of the JVMs whose logs these are: "+
			"samples and logs must be of the same run", a.OtherProcess)
	// A choice is only applied to the samples that the choices before it have admitted. So the last choice that left
	// out any samples is the reason why none remains. The choice of threads is followed by the method of
	// --window-method, and then by --under.
	case a.NotUnder > 0:
		return fmt.Errorf("no sample has the method among its frames (%s); %d have not", ps.Chosen, a.NotUnder)
	case a.OutsideMethod > 0:
		return fmt.Errorf("no sample is of a thread that was in the method (%s); %d are of threads that were not", ps.Chosen,
			a.OutsideMethod)
	case a.OtherThread > 0:
		return fmt.Errorf("no sample is of a thread that is chosen (%s); %s", ps.Chosen, ps.builder.threads.Names())
	case a.Others() == a.Total-a.Lost && ps.Chosen != "":
		return fmt.Errorf("no sample is of a JVM that is chosen (%s); %d are of other JVMs of the command, %d of other processes",
			ps.Chosen, a.OtherJVM+a.OtherTrial, a.OtherProcess)
	case a.OutsideWindow > 0:
		return fmt.Errorf("no sample is in the measurement window; %d are outside of it", a.OutsideWindow)
	}
	return errors.New("no sample is in the profile")
}
