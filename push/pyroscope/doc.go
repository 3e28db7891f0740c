// Package pyroscope sends profiles to a Pyroscope server, by push.v1 with JSON: a POST of
//
//	{"series":[{"labels":[{"name":"service_name","value":"shop"}],"samples":[{"rawProfile":"…","ID":"…"}]}]}
//
// to /push.v1.PusherService/Push, where rawProfile is a gzipped profile in pprof's format, in base64. Servers answer
// with status 200 and {}, or with another status and {"code":"…","message":"…"} (the protocol of connectrpc.com). For
// an unknown path, Pyroscope also answers with 200, and with the page of its user interface; that counts as a refusal.
//
// The server is not trusted: its answers are limited in size and time, redirects to other hosts are not followed, and
// what it says is reported without the sender's secrets.
package pyroscope
