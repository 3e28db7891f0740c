// Package attach finds the JVMs that run on this machine, for gasm attach.
//
// [List] returns all of them, and [Choose] those that a user names by process id or by a part of the main class. A
// [Process] has what gasm can find out about a JVM without stopping it or sending it a command: main class, version,
// user, start time, and whether its memory can be read. The kernel's settings alone do not determine whether the memory
// can be read, so gasm tries to read a byte of it.
//
// # How a JVM is recognized
//
// A process that runs HotSpot has mapped libjvm.so (/proc/PID/maps). OpenJ9 has a libjvm.so as well, and also
// libj9vm29.so. A native image of GraalVM is a program with an ELF section named .svm_heap. The maps of another user's
// process can't be read. Such a process is taken for a JVM if its name is java. It is also taken for a JVM if it has a
// thread named VM Thread and HotSpot's folder in /tmp has a file for its process id.
//
// # What a JVM runs
//
// HotSpot writes counters and properties to /tmp/hsperfdata_<user>/<pid>, for jps and jstat (perfMemory_posix.cpp). The
// folder is in the JVM's own mount namespace, and pid is the JVM's id in its own PID namespace:
//
//	process 4711 here, 1 in its container    /proc/4711/root/tmp/hsperfdata_app/1
//
// The file begins with a header, followed by an entry for each value (perfMemory.hpp). Among its strings are the
// command ("sun.rt.javaCommand": main class or jar, and the arguments) and the version. With -XX:-UsePerfData the file
// does not exist, and another user's file can't be read. In both cases the main class is taken from the command line,
// if it is named there. The version is taken from the JDK's release file.
//
// The file, the command line and all paths are made by the process, which may be hostile. So files are opened only if
// they are regular files of the process's user, reads are bounded, and names are escaped when they are shown.
package attach
