//go:build race

package gasmtest

// RaceDetector tells that the tests have it. It makes them up to twenty times slower.
const RaceDetector = true
