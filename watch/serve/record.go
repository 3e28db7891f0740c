package serve

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gasm-profiler/gasm/watch"
)

// Limits for recordings on demand.
const (
	defaultSeconds = 10
	maxSeconds     = 300
	maxRecordings  = 4               // at the same time
	reportTime     = 2 * time.Minute // for making a report and sending it
	maxListed      = 20              // JVMs in a message
)

// record returns the handler of requests for a recording. kind is the media type of the report.
func (s *Server) record(format, kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		seconds := defaultSeconds
		if text := r.FormValue("seconds"); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > maxSeconds {
				refuse(w, http.StatusBadRequest, "seconds is %.40q; it can be 1 to %d", text, maxSeconds)
				return
			}
			seconds = n
		}
		status := s.o.Status()
		j, code, err := choose(status.JVMs, r.FormValue("jvm"))
		if err != nil && !status.Searched {
			code, err = http.StatusServiceUnavailable, errNotSearched
		}
		if err != nil {
			refuse(w, code, "%v", err)
			return
		}
		if err := s.begin(j.PID); err != nil {
			w.Header().Set("Retry-After", strconv.Itoa(seconds))
			refuse(w, http.StatusTooManyRequests, "%v", err)
			return
		}
		defer s.end(j.PID)
		setDeadline(w, time.Duration(seconds)*time.Second+reportTime)
		s.answer(w, r, Request{j.PID, seconds, format}, kind)
	}
}

// answer records a JVM, and sends the report. Until the report is complete, it is kept in a file without a name, so
// that a failure can still be reported.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, request Request, kind string) {
	f, err := os.CreateTemp("", "gasm-report-*")
	if err != nil {
		refuse(w, http.StatusInternalServerError, "%v", err)
		return
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		refuse(w, http.StatusInternalServerError, "%v", err)
		return
	}
	if err := s.o.Record(r.Context(), request, f); err != nil {
		refuse(w, http.StatusInternalServerError, "%v", err)
		return
	}
	size, err := f.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		refuse(w, http.StatusInternalServerError, "%v", err)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	if request.Format == "pprof" {
		w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="profile-%d.pb.gz"`, request.PID))
	}
	_, _ = io.Copy(w, f) // fails if the client is gone
}

// begin notes that a JVM is being recorded. It returns an error if that is not possible now.
func (s *Server) begin(pid int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.recording[pid]:
		return fmt.Errorf("JVM %d is being recorded for another request", pid)
	case len(s.recording) >= maxRecordings:
		return fmt.Errorf("%d JVMs are being recorded for other requests, which is the limit", maxRecordings)
	}
	s.recording[pid] = true
	return nil
}

func (s *Server) end(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.recording, pid)
}

var errNotSearched = errors.New("the first search for JVMs has not ended yet: try again in a few seconds")

// choose returns the JVM that a word names: its process id, or a part of the name of its main class or jar. Without a
// word, it returns the only JVM that is watched.
func choose(jvms []watch.JVM, word string) (chosen *watch.JVM, code int, err error) {
	var names []string
	pid, pidErr := strconv.Atoi(word)
	for i := range jvms {
		j := &jvms[i]
		named := strings.Contains(j.Main, word)
		if pidErr == nil {
			named = pid == j.PID
		}
		if !named || j.State == watch.StateRefused || word == "" && j.State == watch.StateLeftOut {
			continue
		}
		chosen = j
		names = append(names, j.String())
	}
	switch {
	case len(names) == 1:
		return chosen, 0, nil
	case len(names) == 0 && word == "":
		return nil, http.StatusNotFound, errors.New("no JVM is watched")
	case len(names) == 0:
		return nil, http.StatusNotFound, fmt.Errorf("no JVM that can be recorded is called %.100q", word)
	}
	list := strings.Join(names[:min(len(names), maxListed)], ", ")
	if len(names) > maxListed {
		list += fmt.Sprintf(" and %d more", len(names)-maxListed)
	}
	return nil, http.StatusConflict, fmt.Errorf("there are several JVMs: %s; choose one with jvm=PID", list)
}
