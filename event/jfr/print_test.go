package jfr

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// A printed is an event in the output of `jfr print --json`.
type printed struct {
	Type   string         `json:"type"`
	Values map[string]any `json:"values"`
}

// printer returns the newest jfr tool of this machine.
func printer(t *testing.T) string {
	t.Helper()
	jdks := gasmtest.NeedJDKs(t, func(j gasmtest.JDK) bool { return j.Feature >= 17 && hasTool(j) })
	return tool(jdks[len(jdks)-1])
}

func tool(j gasmtest.JDK) string { return filepath.Join(j.Home, "bin", "jfr") }

func hasTool(j gasmtest.JDK) bool {
	_, err := exec.LookPath(tool(j))
	return err == nil
}

// print runs `jfr print --json` and returns its events one by one.
func printJSON(t *testing.T, tool, recording string, see func(printed)) {
	t.Helper()
	cmd := exec.Command(tool, "print", "--json", "--stack-depth", "2048", recording)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	err = decodePrinted(out, see)
	_, _ = io.Copy(io.Discard, out)
	require.NoError(t, cmd.Wait(), stderr.String())
	require.NoError(t, err)
}

// decodePrinted reads {"recording": {"events": [ … ]}}.
func decodePrinted(out io.Reader, see func(printed)) error {
	d := json.NewDecoder(out)
	d.UseNumber()
	for range 5 {
		if _, err := d.Token(); err != nil {
			return err
		}
	}
	for d.More() {
		var p printed
		if err := d.Decode(&p); err != nil {
			return err
		}
		see(p)
	}
	return nil
}

// differ compares a value with the output of the jfr tool. It returns how they differ, or "" if they don't.
func differ(v Value, want any) string {
	switch want := want.(type) {
	case nil:
		if v.Kind() == Null || v.Kind() == Float && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)) {
			return ""
		}
	case bool:
		if v.Kind() == Bool && v.Bool() == want {
			return ""
		}
	case string:
		return differText(v, want)
	case json.Number:
		return differNumber(v, want.String())
	case map[string]any:
		return differStruct(v, want)
	case []any:
		return differArray(v, want)
	}
	return fmt.Sprintf("a value of kind %d, %q, %d is %v", v.Kind(), v.Text(), v.Int(), want)
}

func differStruct(v Value, want map[string]any) string {
	if v.Kind() != Struct {
		return fmt.Sprintf("a value of kind %d is %v", v.Kind(), want)
	}
	n := 0
	for f, inner := range v.Fields() {
		printed, ok := want[f.Name]
		if !ok {
			return f.Name + " is not printed"
		}
		if d := differ(inner, printed); d != "" {
			return f.Name + ": " + d
		}
		n++
	}
	if n != len(want) {
		return fmt.Sprintf("%d fields are %v", n, want)
	}
	return ""
}

func differArray(v Value, want []any) string {
	if v.Kind() != Array || v.Len() != len(want) {
		return fmt.Sprintf("an array of %d has %d elements", v.Len(), len(want))
	}
	i := 0
	for e := range v.Elements() {
		if d := differ(e, want[i]); d != "" {
			return fmt.Sprintf("[%d]: %s", i, d)
		}
		i++
	}
	if i != len(want) {
		return fmt.Sprintf("%d of %d elements", i, len(want))
	}
	return ""
}

// differNumber compares numbers. JDK 17's tool prints unsigned numbers as if they were signed, so the bits are
// compared.
func differNumber(v Value, want string) string {
	same := false
	switch v.Kind() {
	case Float:
		bits := 64
		if v.Type().Name == "float" {
			bits = 32
		}
		f, err := strconv.ParseFloat(want, bits)
		same = err == nil && f == v.Float()
	case Int:
		n, ok := new(big.Int).SetString(want, 10)
		if !ok {
			break
		}
		bits := map[string]uint{"byte": 8, "short": 16, "int": 32, "long": 64}[v.Type().Name]
		modulus := new(big.Int).Lsh(big.NewInt(1), bits)
		diff := n.Sub(n, big.NewInt(v.Int()))
		same = diff.Sign() == 0 || v.Type().Name != "" && v.field.Unsigned && diff.Mod(diff, modulus).Sign() == 0
	}
	if same {
		return ""
	}
	return fmt.Sprintf("%d, %g is %s", v.Int(), v.Float(), want)
}

// differText compares what is printed in quotation marks: strings, chars, times and durations.
func differText(v Value, want string) string {
	got := v.Text()
	switch v.Unit() {
	case TimestampTicks, TimestampMillis:
		return differTime(v, want)
	case TimespanTicks, TimespanNanos, TimespanMicros, TimespanMillis, TimespanSeconds:
		return differSpan(v, want)
	}
	if v.Kind() == Char {
		got = string(rune(v.Int()))
	}
	// The tool decodes HotSpot's UTF-8 as if it were standard UTF-8, but no name in the tests has characters that
	// differ.
	if (v.Kind() == Char || v.Kind() == String) && got == want {
		return ""
	}
	return fmt.Sprintf("a value of kind %d, %q, is %q", v.Kind(), got, want)
}

func differTime(v Value, want string) string {
	if v.Int() == math.MinInt64 && strings.HasPrefix(want, "-999999999-01-01T00:00") {
		return ""
	}
	at, err := time.Parse("2006-01-02T15:04:05.999999999Z07:00", want)
	if err != nil { // seconds are omitted if they are 0
		at, err = time.Parse("2006-01-02T15:04Z07:00", want)
	}
	if err != nil || at.UnixNano() != v.Nanos() {
		return fmt.Sprintf("%v is %s (%v)", time.Unix(0, v.Nanos()).UTC(), want, err)
	}
	return ""
}

var span = regexp.MustCompile(`^PT(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?)(\d+)(?:\.(\d+))?S)?$`)

// differSpan compares a duration with text like PT2H-3M-0.004S.
func differSpan(v Value, want string) string {
	if n := v.Int(); n == math.MinInt64 || n == math.MaxInt64 { // Duration.ofSeconds of these values
		if strings.HasPrefix(strings.Replace(want, "PT-", "PT", 1), "PT2562047788015215H") {
			return ""
		}
	}
	m := span.FindStringSubmatch(want)
	if m == nil {
		return fmt.Sprintf("%d is %s", v.Nanos(), want)
	}
	part := func(text string) *big.Int {
		n, _ := new(big.Int).SetString("0"+strings.TrimPrefix(text, "-"), 10)
		if strings.HasPrefix(text, "-") {
			n.Neg(n)
		}
		return n
	}
	total := part(m[1])
	total.Add(total.Mul(total, big.NewInt(60)), part(m[2]))
	total.Mul(total, big.NewInt(60e9))
	total.Add(total, part(m[3]+m[4]+(m[5] + "000000000")[:9]))
	same := total.IsInt64() && total.Int64() == v.Nanos()
	if c := v.chunk.Clock; !same && v.Unit() == TimespanTicks { // the tool divides doubles, which have 53 bits
		same = total.IsInt64() && total.Int64() == int64(float64(v.Int())/(float64(c.TicksPerSecond)/1e9))
	}
	if !same {
		return fmt.Sprintf("%d ns is %s", v.Nanos(), want)
	}
	return ""
}
