// Package serve answers requests to a running gasm watch, by HTTP on a Unix socket or, with a token, on a TCP port:
//
//	GET /metrics                            what gasm does and costs, in Prometheus's text format
//	GET /healthz                            200 if gasm works, otherwise 503; needs no token
//	GET /debug/pprof/profile?seconds=&jvm=  samples a JVM for some seconds; in pprof's format
//	GET /page?seconds=&jvm=                 the same as a page for a browser
//
// The parameter jvm is a process id or a part of the name of the main class or jar. It can be left out if only one JVM
// is watched. Each recording runs in a gasm process of its own, so that it can't harm the one that watches. A JVM is
// recorded for one request at a time, and only a few JVMs are recorded at the same time.
//
// Clients are not trusted: the number of connections, the size of requests and all times are limited.
package serve
