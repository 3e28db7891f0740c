// Package browsertest opens gasm's pages in a browser, as people do: from disk, in Debian's Chromium. It is a module of
// its own, so that gasm does not depend on the library that drives the browser.
//
// A page must request nothing from the network and write nothing on the console; every test checks that at its end (see
// [tab]). Pages are made from committed captures: by gasm's own binary if its command line matters, and otherwise by
// package report, so that a test can put other names or more code into them.
//
// This command writes the screenshots that the documents show:
//
//	go test -run TestScreenshots -update
package browsertest
