// Package otlp sends profiles by the OpenTelemetry protocol over HTTP: a POST of a gzipped ExportProfilesServiceRequest
// in protobuf to /v1development/profiles. The OpenTelemetry collector, Pyroscope and others accept it.
//
// The signal is not stable. The messages are those of version v1development, as the module
// go.opentelemetry.io/proto/slim/otlp/profiles/v1development has them; its version in go.mod is the one that the
// collector 0.165 uses. Servers before 1.10 of the protocol expect the values of samples in another field, and would
// store samples without values. So each request names the version of its messages in a header, and a server that knows
// the header and has another version refuses the request.
//
// A request has one resource, whose attributes are the profile's labels, and one profile for each sample type, because
// a profile of this protocol has only one:
//
//	samples/count    with the period in CPU time, which is how OpenTelemetry's own profiler reports samples
//	cpu/nanoseconds  the same samples multiplied by the period
//
// Both use the same stacks in the dictionary. A location has the attribute profile.frame.type: jvm, native or kernel.
package otlp
