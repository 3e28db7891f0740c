// Package web sends the requests of package push's destinations that are servers. It reads the files with secrets and
// certificates, and converts answers to the errors that a [push.Queue] understands.
//
// The server is not trusted: its answers are limited in size and time, redirects to other hosts are not followed, and
// what it says is reported without the sender's secrets.
package web
