//go:build !race

package gasmtest

// RaceDetector is true if the tests run with the race detector, which makes them up to twenty times slower.
const RaceDetector = false
