package collect

// A switching is a request from Pause or Resume to the goroutine that owns the events.
type switching struct {
	on   bool
	done chan error
}

// Pause stops the sampling until Resume. Samples from before the pause are kept. If Options.Pauses was set, threads and
// mappings that appear during the pause are recorded nevertheless. Pause does nothing if the recording has ended.
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

// obey executes a request of Pause or Resume, if there is one.
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
