// Package collectortest sends profiles of gasm watch to the OpenTelemetry collector, and checks that they arrive as
// they were sent. It is a module of its own, because the collector has more than a hundred dependencies, which take
// minutes to compile. So its test runs only in `make test-all`.
package collectortest
