package main

import (
	"context"
	"fmt"

	"github.com/gasm-profiler/gasm/bench/fleet"
)

// measureFleet measures what 10, 100 and 1000 hosts send in two intervals.
func measureFleet(ctx context.Context, s *setup) ([]figure, error) {
	var all []figure
	sizes := []int{10, 100, 1000}
	if s.short {
		sizes = []int{100}
	}
	kinds, err := fleet.Kinds()
	if err != nil {
		return nil, err
	}
	for _, hosts := range sizes {
		s.say("%d hosts with %d JVMs each", hosts, fleet.JVMs)
		run, err := fleet.Simulate(ctx, hosts, 2, kinds)
		if err != nil {
			return all, err
		}
		one := func(what string, value float64, unit unit, goal string) {
			all = append(all, figure{what, []float64{value}, unit, goal})
		}
		one(fmt.Sprintf("%d hosts, %d JVMs each: profiles per second", hosts, fleet.JVMs), run.PerSecond(run.Profiles),
			inNumber, "")
		one("  received, of those that were made", run.Share(), inShare, "100 %")
		one("  samples received, of those that were made", float64(run.Samples)/float64(run.SentSamples), inShare, "100 %")
		one("  profiles in pprof's format", run.PerSecond(run.PprofBytes)/1e6, unit{"%.3f MB/s", 1}, "")
		one("  bodies of the requests", run.PerSecond(run.BodyBytes)/1e6, unit{"%.3f MB/s", 1}, "")
		one("  series", float64(run.Series), inNumber, "")
		one("  failed attempts", float64(run.Retries), inNumber, "")
		one("  from the end of the last interval to the last profile", run.Late.Seconds(), inSeconds, "")
	}
	return all, nil
}
