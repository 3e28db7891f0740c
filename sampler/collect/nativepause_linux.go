package collect

// A switching is what Pause and Resume ask the goroutine that has the events for.
type switching struct {
	on   bool
	done chan error
}

// Pause ends the sampling until Resume. The samples that were taken before are kept. If the
// recording was started with Options.Pauses, threads and mappings that come meanwhile are
// known afterwards. A Native that has ended stays so.
func (n *Native) Pause() error { return n.turn(false) }

// Resume begins to sample again after Pause.
func (n *Native) Resume() error { return n.turn(true) }

func (n *Native) turn(on bool) error {
	s := switching{on, make(chan error, 1)}
	select {
	case n.switches <- s:
		n.set.Interrupt()
	case <-n.done:
		return nil
	}
	select {
	case err := <-s.done:
		return err
	case <-n.done:
		return nil
	}
}

// obey does what Pause or Resume asks for.
func (n *Native) obey() {
	select {
	case s := <-n.switches:
		if s.on {
			s.done <- n.set.Resume()
		} else {
			s.done <- n.set.Pause()
		}
	default:
	}
}
