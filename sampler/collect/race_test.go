package collect

import "github.com/gasm-profiler/gasm/internal/gasmtest"

const raceDetector = gasmtest.RaceDetector
