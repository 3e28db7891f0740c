//go:build race

package gasmtest

// RaceDetector is true if the tests run with the race detector. It makes them up to twenty times slower.
const RaceDetector = true
