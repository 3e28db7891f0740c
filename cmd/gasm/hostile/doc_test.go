// Package hostile lets gasm attach, as root, to JVMs whose user attacks gasm, and to JVMs that fail at the worst
// moment. It contains only tests. They run the real gasm and real JVMs.
//
//	go test ./cmd/gasm/hostile                                 each known attack, some rounds of all at random, some kills
//	go test ./cmd/gasm/hostile -run TestAdversary -rounds 200  for longer
//	go test ./cmd/gasm/hostile -gasm /usr/bin/gasm             the same against another gasm
//
// The attacker is the program of this test. It runs as the user nobody, in user and mount namespaces of its own
// (attacker_linux_test.go). The neighbour is another user. It has no JVM, and attacks a JVM of the user nobody
// (neighbour_linux_test.go).
package hostile
