// Package browsertest opens gasm's pages in a browser, as people do: from disk, in Debian's
// Chromium. It is a module of its own, so that gasm does not depend on what drives the
// browser.
//
// A page must ask the network for nothing and have nothing to say on the console; every test
// checks that at its end (see [tab]). Pages are made of committed captures, by gasm's own
// binary where its command line matters, else by package report, which lets a test put other
// names or more code into them.
//
// The screenshots that the documents show are written by
//
//	go test -run TestScreenshots -update
package browsertest
