package diff

import "fmt"

// Title returns the name of the benchmark. If the trial is not a benchmark, it returns the program
// and its JDK, if they are known.
func (t *TrialSide) Title() string {
	switch {
	case t.Name != "":
		return t.Name
	case t.Program == "":
		return "the whole run"
	case t.JDK == "":
		return t.Program
	}
	return fmt.Sprintf("%s (JDK %s)", t.Program, t.JDK)
}

// A trialKey identifies a trial on both sides.
type trialKey struct{ name, program, jdk string }

// pairTrials returns, for each trial of A, the index of its counterpart in B, or -1 if it has none.
// Benchmarks are paired by name. Other programs are paired by main class and JDK. Those that remain
// are paired by the main class alone, because the user may compare two JDKs. If each side has only
// one trial, the two are a pair even if their names differ.
func pairTrials(a, b []TrialSide) []int {
	pairs := make([]int, len(a))
	if len(a) == 1 && len(b) == 1 {
		return pairs
	}
	for i := range pairs {
		pairs[i] = -1
	}
	usedB := make([]bool, len(b))
	for _, key := range []func(t *TrialSide) trialKey{
		func(t *TrialSide) trialKey { return trialKey{t.Name, t.Program, t.JDK} },
		func(t *TrialSide) trialKey { return trialKey{t.Name, t.Program, ""} },
	} {
		inB := map[trialKey][]int{}
		for j := range b {
			if !usedB[j] {
				inB[key(&b[j])] = append(inB[key(&b[j])], j)
			}
		}
		for i := range a {
			same := inB[key(&a[i])]
			if pairs[i] < 0 && len(same) > 0 {
				pairs[i], usedB[same[0]] = same[0], true
				inB[key(&a[i])] = same[1:]
			}
		}
	}
	return pairs
}
