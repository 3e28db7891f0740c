package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gasm-profiler/gasm/internal/gasmtest"
)

// An application is a large program that runs until it is stopped.
type application struct {
	name    string
	feature int // the oldest JDK that runs it
	args    func() []string
	load    bool // it is a server, and org.acme.shop.Load sends it requests
}

var applications = []application{
	{"JRuby", 17, func() []string {
		return []string{"org.jruby.Main", gasmtest.Testdata("applications", "src", "main", "ruby", "work.rb")}
	}, false},
	{"H2", 17, func() []string { return []string{"-Dsec=100000", gasmtest.Testdata("programs", "Database.java")} }, false},
	{"Scala's compiler", 17, func() []string {
		return []string{"org.acme.build.CompileScala", gasmtest.Testdata("applications", "target", "scala")}
	}, false},
	{"Jetty", 17, func() []string { return []string{"org.acme.shop.Shop"} }, true},
	{"Jetty, virtual threads", 21, func() []string { return []string{"org.acme.shop.Shop", "virtual"} }, true},
}

// file returns the prefix of the names of the application's files: "jetty-virtual-threads-25".
func (a *application) file(j installedJDK) string {
	return strings.NewReplacer(" ", "-", ",", "", "'", "").Replace(strings.ToLower(a.name)) + "-" + strconv.Itoa(j.feature)
}

// applicationPath returns a path in the build of testdata/applications.
func applicationPath(elem ...string) string {
	return gasmtest.Testdata(append([]string{"applications", "target"}, elem...)...)
}

// needApplications returns an error if the applications were not built.
func needApplications() error {
	if _, err := os.Stat(applicationPath("compiled")); err != nil {
		return missing("testdata/applications was not built yet: make applications does it")
	}
	return nil
}

// java returns the command line that runs a program with the classes and libraries of the applications.
func (j installedJDK) java(options string, args ...string) []string {
	classPath := applicationPath("classes") + string(filepath.ListSeparator) + applicationPath("lib", "*")
	return slices.Concat([]string{j.tool("java"), "-Xmx1g", "-cp", classPath}, strings.Fields(options), args)
}

// The type running is a program that runs.
type running struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
}

// start starts a program. Its stderr is discarded.
func start(ctx context.Context, argv []string) (*running, error) {
	cmd := command(ctx, argv)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, commandError(argv, err, "")
	}
	return &running{cmd, in, bufio.NewReader(out)}, nil
}

// ready waits for the line with which a program says that it is ready, and returns the rest of that line.
func (r *running) ready() (string, error) {
	for {
		line, err := r.stdout.ReadString('\n')
		if err != nil {
			return "", commandError(r.cmd.Args, fmt.Errorf("it is not ready: %w", err), "")
		}
		if rest, ok := strings.CutPrefix(line, "READY"); ok {
			go func() { _, _ = io.Copy(io.Discard, r.stdout) }() // until the program's end
			return strings.TrimSpace(rest), nil
		}
	}
}

// stop ends the program, and waits for its end.
func (r *running) stop() {
	r.stdin.Close()
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait() // it was killed
}

// run starts the application with more options for its JVM and, if it is a server, its load. The caller must call the
// returned function stop.
func (a *application) run(ctx context.Context, j installedJDK, options string) (pid int, stop func(), err error) {
	app, err := start(ctx, j.java(options, a.args()...))
	if err != nil {
		return 0, nil, err
	}
	port, err := app.ready()
	if err != nil || !a.load {
		if err != nil {
			app.stop()
		}
		return app.cmd.Process.Pid, app.stop, err
	}
	load, err := start(ctx, j.java("", "org.acme.shop.Load", port))
	if err != nil {
		app.stop()
		return 0, nil, err
	}
	return app.cmd.Process.Pid, func() { load.stop(); app.stop() }, nil
}
