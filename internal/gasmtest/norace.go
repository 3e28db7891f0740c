//go:build !race

package gasmtest

// RaceDetector is true if the tests run with the race detector. The race detector makes them up to twenty times slower.
const RaceDetector = false
