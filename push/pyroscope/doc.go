// Package pyroscope sends profiles to a Pyroscope server, by push.v1 with JSON: a POST of
//
//	{"series":[{"labels":[{"name":"service_name","value":"shop"}],"samples":[{"rawProfile":"…","ID":"…"}]}]}
//
// to /push.v1.PusherService/Push, where rawProfile is a profile in pprof's format, gzipped, in base64. Servers answer 200
// and {}, or another status and {"code":"…","message":"…"} (the protocol of connectrpc.com). They answer paths that they
// do not know with 200, too, and the page of their user interface. That counts as a refusal.
//
// The server is not trusted: its answers are limited in size and time, redirects to other hosts are not followed, and
// what it says is reported without the sender's secrets.
package pyroscope
