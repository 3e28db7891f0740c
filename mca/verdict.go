package mca

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/layout"
	"github.com/gasm-profiler/gasm/profile/loops"
)

var (
	totalCycles = regexp.MustCompile(`(?m)^Total Cycles:\s+(\d+)\s*$`)
	throughput  = regexp.MustCompile(`(?m)^Block RThroughput:\s+([0-9.]+)\s*$`)
	waiting     = regexp.MustCompile(`(?m)^\s*- Register Dependencies \[\s*([0-9.]+)%`)
)

// llvmVerdict sums up what llvm-mca has printed: "40 cycles a round; 4.5 by ports alone; 96% waits for registers". It
// returns "" if the output is not known.
func llvmVerdict(output string) string {
	m := totalCycles.FindStringSubmatch(output)
	if m == nil {
		return ""
	}
	cycles, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return ""
	}
	text := loops.Cycles(cycles/rounds) + " cycles a round"
	if m := throughput.FindStringSubmatch(output); m != nil {
		text += "; " + strings.TrimSuffix(m[1], ".0") + " by ports alone"
	}
	if m := waiting.FindStringSubmatch(output); m != nil {
		if share, err := strconv.ParseFloat(m[1], 64); err == nil {
			text += fmt.Sprintf("; %.0f%% waits for registers", share)
		}
	}
	return text
}

// carried matches a row of the carried chains that OSACA lists:
//
//	2 | 48.0 | vaddsd 0x10(%rsi,%r9,8),%xmm0,%xmm0 | [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]
var carried = regexp.MustCompile(`^\s*\d+ \|\s*([0-9.]+) \| (.*?)\s*\| \[([0-9, ]+)\]\s*$`)

// osacaVerdict sums up what OSACA has printed: "ports 8 cycles a round; longest carried chain 48: 16 instructions, from
// vaddsd 0x10(%rsi,%r9,8),%xmm0,%xmm0". It returns "" if the output is not known.
func osacaVerdict(output string) string {
	ports, longest, chain := -1.0, 0.0, "no carried chain"
	for line := range strings.Lines(output) {
		if fields := strings.Fields(line); len(fields) > 2 && ports < 0 {
			ports = largest(fields[:len(fields)-2]) // the last two fields are the critical path and the longest chain
		}
		if m := carried.FindStringSubmatch(line); m != nil {
			if cycles, err := strconv.ParseFloat(m[1], 64); err == nil && cycles > longest {
				longest = cycles
				chain = fmt.Sprintf("longest carried chain %s: %s, from %s", loops.Cycles(cycles),
					layout.Plural(strings.Count(m[3], ",")+1, "instruction"), m[2])
			}
		}
	}
	if ports < 0 {
		return ""
	}
	return "ports " + loops.Cycles(ports) + " cycles a round; " + chain
}

// largest returns the largest of some numbers, or -1 if one of the fields is not a number.
func largest(fields []string) float64 {
	most := -1.0
	for _, f := range fields {
		n, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return -1
		}
		most = max(most, n)
	}
	return most
}

// shortened returns the part of OSACA's output that is worth showing: the processor and the reports, but neither the
// time nor the name of the file.
func shortened(output string) string {
	i := strings.Index(output, "Combined Analysis Report")
	if i < 0 {
		return output
	}
	text := ""
	for line := range strings.Lines(output[:i]) {
		if strings.HasPrefix(line, "Architecture:") {
			text = strings.TrimSpace(line) + "\n\n"
		}
	}
	return text + output[i:]
}
