package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
	"github.com/gasm-profiler/gasm/report/schema"
)

// knownLines has the first and the last line of some methods of the program Profiled.
var knownLines = map[string][2]int{"Profiled::three": {19, 23}, "Profiled::two": {28, 32}, "Profiled::branch": {46, 54},
	"Profiled::cast": {70, 75}}

// TestGraal checks that code of the Graal compiler has names, lines, frames and HotSpot's profile, as C2's code has.
// The JVM is first profiled, and then attached to.
func TestGraal(t *testing.T) {
	gasmtest.NeedNative(t)
	java, flags := gasmtest.NeedGraal(t)
	t.Parallel() // nothing is measured
	file := filepath.Join(t.TempDir(), "report.json")
	all := []string{"--format", "json", "--hot-threshold", "0.0001", "--print-margin", "10000", "--too-big-threshold",
		"20000", "--min-samples", "1", "--regions", "100"}
	args := append([]string{"profile", "--report", file, "--events", "default,compile"}, all...)
	// If they were inlined into main before they are compiled, nothing would call them any more, and the compiler would
	// take them off its queue.
	args = append(append(args, "--", java, "-XX:CompileCommand=quiet"), flags...)
	for method := range knownLines {
		args = append(args, "-XX:CompileCommand=dontinline,"+method)
	}
	cmd := exec.Command(binary, append(args, "-XX:+PrintCompilation", "-cp", javaPrograms(t), "Profiled")...)
	out, stderr := newLineWaiter("warm "), &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, stderr
	stdin, err := cmd.StdinPipe() // Profiled ends when its stdin is closed
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer cmd.Process.Kill()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	require.Eventually(t, func() bool {
		text := out.String()
		require.Empty(t, ended)
		for method := range knownLines {
			if !strings.Contains(text, " 4       "+method+" (") { // as PrintCompilation prints it
				return false
			}
		}
		return true
	}, hangs, 100*time.Millisecond, "Graal compiles all methods of Profiled: %s", stderr)

	var rep schema.Report
	for range 20 { // on a busy machine, the program may hardly run while gasm is attached
		rep, _ = attachJSON(t, append(all, "--length", "2s", "--events", "none",
			strconv.Itoa(childOf(t, cmd.Process.Pid)))...)
		if lines, _ := graalCode(t, &rep.Profiles[0]); len(lines) == len(knownLines) {
			break
		}
	}
	t.Run("attach", func(t *testing.T) { checkGraal(t, &rep) })
	require.NoError(t, stdin.Close())
	require.NoError(t, <-ended, "%s", stderr)
	rep = readReport(t, readFile(t, file))
	t.Run("profile", func(t *testing.T) {
		checkGraal(t, &rep)
		jit := rep.Profiles[0].JIT
		require.NotNil(t, jit)
		assert.Equal(t, "JVMCI", jit.Top)
		assert.Equal(t, 4, jit.Levels[len(jit.Levels)-1].Level)
	})
}

// childOf returns the process id of the JVM that gasm has started.
func childOf(t *testing.T, pid int) int {
	t.Helper()
	var children []string
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // one list for each of gasm's threads
	require.NoError(t, err)
	for _, list := range lists {
		children = append(children, strings.Fields(string(readFile(t, list)))...)
	}
	require.Len(t, children, 1)
	child, err := strconv.Atoi(children[0])
	require.NoError(t, err)
	return child
}

// graalCode returns facts about the methods with known lines in the listed code of Graal: for each method, the number
// of instructions that have a frame of it, and HotSpot's profiles by method and bytecode.
func graalCode(t *testing.T, p *schema.Profile) (instructions map[string]int, profiles map[string]*schema.JITProfile) {
	t.Helper()
	instructions, profiles = map[string]int{}, map[string]*schema.JITProfile{}
	for i := range p.Regions {
		region := &p.Regions[i]
		if !strings.HasPrefix(region.Source, "jvmci, level 4") {
			continue
		}
		for k := range region.Lines {
			l := &region.Lines[k]
			if l.JITProfile != nil {
				profiles[l.JITProfile.Method+" "+l.JITProfile.Bytecode] = l.JITProfile
			}
			for _, f := range l.Frames {
				if span, ok := knownLines[f.Method]; ok && f.Line > 0 {
					instructions[f.Method]++
					assert.True(t, span[0] <= f.Line && f.Line <= span[1], "line %d of %s", f.Line, f.Method)
				}
			}
		}
	}
	return instructions, profiles
}

// checkGraal checks the report of the program Profiled.
func checkGraal(t *testing.T, rep *schema.Report) {
	require.Len(t, rep.Profiles, 1)
	p := &rep.Profiles[0]
	unresolvedAtMost(t, p, 0.005)
	instructions, profiles := graalCode(t, p)
	for method := range knownLines {
		assert.Greater(t, instructions[method], 5, "instructions of %s", method)
		assert.True(t, slices.ContainsFunc(p.Frames, func(f schema.Frames) bool { return f.Method == method }),
			"frames of %s", method)
	}
	for site, shares := range map[string]map[string]float64{
		"Profiled::three invokeinterface": {"Profiled$Circle": 50, "Profiled$Square": 30, "Profiled$Triangle": 20},
		"Profiled::two invokevirtual":     {"Profiled$Cat": 75, "Profiled$Bird": 25},
		"Profiled::cast checkcast":        {"Profiled$Circle": 80, "Profiled$Triangle": 20},
	} {
		if profiles[site] == nil {
			logGraal(t, p)
			t.Errorf("no profile of %s", site)
			continue
		}
		checkReceivers(t, profiles[site], shares)
	}
	if branch := profiles["Profiled::branch ifne"]; assert.NotNil(t, branch) {
		assert.InDelta(t, 90, 100*float64(*branch.Taken)/float64(*branch.Taken+*branch.NotTaken), 1)
	}
}

// logGraal logs what the report says of the code of Graal: the bytecodes of each region, and its profiles.
func logGraal(t *testing.T, p *schema.Profile) {
	t.Helper()
	for i := range p.Regions {
		region := &p.Regions[i]
		bytecodes := map[string]int{}
		for k := range region.Lines {
			l := &region.Lines[k]
			for _, f := range l.Frames {
				bytecodes[fmt.Sprintf("%s@%d", f.Method, f.BCI)]++
			}
			if l.JITProfile != nil {
				bytecodes["profile of "+l.JITProfile.Method+" "+l.JITProfile.Bytecode]++
			}
		}
		t.Logf("%s %d, %s: %v", region.Method, region.CompileID, region.Source, bytecodes)
	}
}
