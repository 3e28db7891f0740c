// Package attach finds the JVMs that run on this machine, for gasm attach.
//
// [List] has all of them, [Choose] those that a user names by process id or by a part of the
// main class. A [JVM] says what is known without stopping or asking it: main class, version,
// user, when it started, and whether its memory can be read, which is tried and not guessed.
//
// # How a JVM is told
//
// A HotSpot has mapped libjvm.so (/proc/PID/maps). OpenJ9 has a libjvm.so as well, and
// libj9vm29.so beside it. A native image of GraalVM is a program with an ELF section named
// .svm_heap. The maps of another user's process can't be read. Then the name java, or a file
// named by the process id in HotSpot's folder in /tmp, tells.
//
// # What it runs
//
// HotSpot writes counters and properties into /tmp/hsperfdata_<user>/<pid>, for jps and jstat
// (perfMemory_posix.cpp). Both the folder and the pid are those of the JVM's own namespaces:
//
//	process 4711 here, 1 in its container    /proc/4711/root/tmp/hsperfdata_app/1
//
// The file begins with a header and has an entry for each value (perfMemory.hpp). Its strings
// name the command ("sun.rt.javaCommand": main class or jar, and the arguments) and the
// version. With -XX:-UsePerfData there is no such file, and one of another user can't be
// read. Then the command line tells, as far as it does, and the file release of the JDK.
//
// The file, the command line and all paths are made by the process, which may be hostile:
// files are opened only if they are regular ones and belong to the process's user, what is
// read of them is bounded, and names are shown escaped.
package attach
