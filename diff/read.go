package diff

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gasm-profiler/gasm/report/schema"
)

// Upper bounds for the parts of a report. A file that exceeds one of them is refused. An empty JSON
// object can become a large value in memory, so without these limits a small file could use up all
// memory.
const (
	maxTrials    = 5_000
	maxProcesses = 100_000
	maxWords     = 1_000_000 // words of the command; also the maximum number of notes
	maxLines     = 600_000   // lines of code in a trial's regions: package profile's maxAnnotated and one more region
	maxItems     = 200_000   // methods, frames, native functions or regions of a trial
	maxCalls     = 20_000    // nodes of a trial's tree of calls; a report has 10,000
	maxElement   = 4 << 20   // bytes of JSON for one element of these lists
)

// ReadJSON reads a JSON report. name is the file's name as the user wrote it.
func ReadJSON(r io.Reader, name string) (*Side, error) {
	buffered := bufio.NewReader(r)
	if start, _ := buffered.Peek(2); string(start) == "\x1f\x8b" { // gzip
		return nil, fmt.Errorf("%s is not a JSON report, it is compressed; 'go tool pprof -diff_base' compares the profiles "+
			"of gasm watch", name)
	}
	rep, err := readReport(json.NewDecoder(buffered))
	if err != nil {
		return nil, fmt.Errorf("%s is not a JSON report: %w; 'gasm report --format json' makes one", name, err)
	}
	switch {
	case rep.Schema != 0 && rep.Schema != schema.Version:
		return nil, fmt.Errorf("%s has schema %d; this gasm reads schema %d only: use the gasm that wrote it", name,
			rep.Schema, schema.Version)
	case rep.Schema == 0 || rep.Capture == nil || rep.Profiles == nil:
		return nil, fmt.Errorf("%s is JSON, but not a report: 'gasm report --format json' makes one", name)
	}
	return FromReport(name, rep), nil
}

// readReport reads those members of a report that [FromReport] needs. It reads lists element by element, so that it can
// stop as soon as a list is longer than its upper bound.
func readReport(dec *json.Decoder) (*schema.Report, error) {
	var rep schema.Report
	err := members(dec, func(key string) error {
		switch key {
		case "schema":
			return dec.Decode(&rep.Schema)
		case "capture":
			return readCapture(dec, &rep.Capture)
		case "chosen":
			return dec.Decode(&rep.Chosen)
		case "profiles":
			return elements(dec, key, maxTrials, &rep.Profiles, func(p *schema.Profile) error { return readProfile(dec, p) })
		}
		return skip(dec)
	})
	return &rep, err
}

func readCapture(dec *json.Decoder, about **schema.Capture) error {
	c := new(schema.Capture)
	err := members(dec, func(key string) error {
		*about = c
		switch key {
		case "command":
			return whole(dec, key, maxWords, &c.Command)
		case "sampler":
			return dec.Decode(&c.Sampler)
		case "events":
			return dec.Decode(&c.Events)
		case "frequency":
			return dec.Decode(&c.Frequency)
		case "jvms":
			return whole(dec, key, maxProcesses, &c.JVMs)
		case "selection":
			return dec.Decode(&c.Selection)
		case "notes":
			return whole(dec, key, maxWords, &c.Notes)
		}
		return skip(dec)
	})
	*about = c
	return err
}

func readProfile(dec *json.Decoder, p *schema.Profile) error {
	lines := maxLines
	return members(dec, func(key string) error {
		switch key {
		case "trial":
			return dec.Decode(&p.Trial)
		case "program":
			return dec.Decode(&p.Program)
		case "jdk":
			return dec.Decode(&p.JDK)
		case "window_seconds":
			return dec.Decode(&p.WindowSeconds)
		case "operations":
			return dec.Decode(&p.Operations)
		case "score":
			return small(dec, key, &p.Score)
		case "account":
			return dec.Decode(&p.Account)
		case "jvms":
			return whole(dec, key, maxProcesses, &p.JVMs)
		case "slices":
			return dec.Decode(&p.Slices)
		case "regions":
			return elements(dec, key, maxItems, &p.Regions, func(r *schema.Region) error {
				err := readRegion(dec, r, lines)
				lines -= len(r.Lines)
				return err
			})
		case "methods":
			return whole(dec, key, maxItems, &p.Methods)
		case "frames":
			return whole(dec, key, maxItems, &p.Frames, func(f *schema.Frames) { f.Lines = nil })
		case "native":
			return whole(dec, key, maxItems, &p.Native)
		case "stacks":
			return members(dec, func(key string) error {
				if key != "nodes" {
					return skip(dec)
				}
				p.Stacks = new(schema.Stacks)
				return whole(dec, key, maxCalls, &p.Stacks.Nodes)
			})
		}
		return skip(dec)
	})
}

func readRegion(dec *json.Decoder, r *schema.Region, maxLines int) error {
	return members(dec, func(key string) error {
		switch key {
		case "source":
			return dec.Decode(&r.Source)
		case "method":
			return dec.Decode(&r.Method)
		case "compile_id":
			return dec.Decode(&r.CompileID)
		case "osr":
			return dec.Decode(&r.OSR)
		case "lo":
			return dec.Decode(&r.Lo)
		case "hi":
			return dec.Decode(&r.Hi)
		case "counts":
			return dec.Decode(&r.Counts)
		case "lines":
			return whole(dec, key, maxLines, &r.Lines)
		}
		return skip(dec)
	})
}

// members reads an object. For each member it calls read(key), which must read the value. null
// counts as an empty object.
func members(dec *json.Decoder, read func(key string) error) error {
	start, err := dec.Token()
	if err != nil || start == nil {
		return err
	}
	if start != json.Delim('{') {
		return errors.New("it is not an object")
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string) // keys of objects are strings
		if err := read(name); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}

// elements reads a list, and calls read(&element) for each element. If the list has too many
// elements, that is an error. null counts as an empty list.
func elements[T any](dec *json.Decoder, what string, most int, list *[]T, read func(*T) error) error {
	start, err := dec.Token()
	if err != nil || start == nil {
		return err
	}
	if start != json.Delim('[') {
		return fmt.Errorf("its %s are not a list", what)
	}
	*list = []T{}
	for dec.More() {
		if len(*list) == most {
			return fmt.Errorf("it has more than %d %s", most, what)
		}
		var element T
		if err := read(&element); err != nil {
			return err
		}
		*list = append(*list, element)
	}
	_, err = dec.Token()
	return err
}

// whole reads a list whose elements are small. It decodes each element as a whole, and returns an
// error if one is larger than maxElement. The optional trim functions remove what is not needed
// from an element.
func whole[T any](dec *json.Decoder, what string, most int, list *[]T, trim ...func(*T)) error {
	var text json.RawMessage
	return elements(dec, what, most, list, func(element *T) error {
		text = text[:0]
		if err := dec.Decode(&text); err != nil {
			return err
		}
		if len(text) > maxElement {
			return fmt.Errorf("one of its %s has %d MiB, which is too large", what, len(text)>>20)
		}
		err := json.Unmarshal(text, element)
		for _, t := range trim {
			t(element)
		}
		return err
	})
}

// small reads a single value. It returns an error if the value is larger than maxElement.
func small[T any](dec *json.Decoder, what string, value *T) error {
	var text json.RawMessage
	if err := dec.Decode(&text); err != nil {
		return err
	}
	if len(text) > maxElement {
		return fmt.Errorf("its %s has %d MiB, which is too large", what, len(text)>>20)
	}
	return json.Unmarshal(text, value)
}

// skip skips a value that is not needed.
func skip(dec *json.Decoder) error {
	var text json.RawMessage
	return dec.Decode(&text)
}
