// Package jcmd makes a running JVM execute commands of jcmd, such as starting and ending a recording or changing what
// it logs.
//
//	p, err := foreign.Open(4711)
//	text, err := jcmd.Run(ctx, p, "VM.version")
//	err = jcmd.StartRecording(ctx, p, "gasm", settings, "")
//	err = jcmd.StopRecording(ctx, p, "gasm", file)
//
// It needs no JDK. It uses the same protocol as jcmd (attachListener.cpp, attachListener_posix.cpp;
// VirtualMachineImpl.java):
//
//   - HotSpot listens at a socket, /tmp/.java_pid<pid>, after it has been asked to: by a file /tmp/.attach_pid<pid>
//     that belongs to its user, followed by SIGQUIT. Both paths are in the JVM's own mount namespace, and both ids in
//     its own PID namespace: /proc/4711/root/tmp/.java_pid1. If /tmp is a symbolic link, it is not followed, because it
//     would be resolved from gasm's own root folder.
//   - A client connects and writes strings that end with a NUL: "1" (the version of the protocol), "jcmd", the command,
//     and two empty ones. HotSpot reads at most 1024 bytes of a command.
//   - HotSpot answers with a decimal number (0 for success), a newline, and text. Then it closes the connection.
//   - The client must have the JVM's effective user and group. Newer releases accept root as well. gasm
//     as root takes on the JVM's user and group for every connection.
//
// SIGQUIT ends a process that does not handle it. It makes a JVM with -XX:+DisableAttachMechanism print the stacks of
// all its threads. So both cases are checked first: by the signal masks that the kernel reports, and by the flag in the
// JVM's memory. A JVM with -Xrs does not handle SIGQUIT, but listens from its start.
package jcmd
