package diff

import "fmt"

// Title is what the trial is called: the benchmark, or the program with its JDK, as far as
// they are known.
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

// A trialKey is what makes a trial the same one on both sides.
type trialKey struct{ name, program, jdk string }

// pairTrials gives for each trial of A the place of its counterpart in B, or -1. Trials are
// paired by name, programs by main class and JDK, and those that are left by the main class
// alone, because the JDK may be what is compared. When each side has a single one, these
// two are a pair whatever their names.
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
