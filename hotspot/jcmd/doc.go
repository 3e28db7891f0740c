// Package jcmd makes a running JVM execute commands of jcmd, such as starting and ending a recording or changing what
// it logs.
//
//	p, err := foreign.Open(4711)
//	text, err := jcmd.Run(ctx, p, "VM.version")
//	err = jcmd.StartRecording(ctx, p, "gasm", settings, "", jcmd.Kept{})
//	err = jcmd.StopRecording(ctx, p, "gasm", file)
//
// The package needs no JDK. It uses the same protocol as the program jcmd (attachListener.cpp,
// attachListener_posix.cpp; VirtualMachineImpl.java):
//
//   - HotSpot listens at a socket, /tmp/.java_pid<pid>, only after it has been asked to. To ask, a client creates a
//     file /tmp/.attach_pid<pid> that belongs to the JVM's user, and then sends SIGQUIT. The JVM resolves both paths in
//     its own mount namespace, and the ids in them are from its own PID namespace. So for process 4711, gasm may have
//     to open /proc/4711/root/tmp/.java_pid1. If /tmp is a symbolic link, it is not followed, because it would be
//     resolved from gasm's own root folder.
//   - A client connects and writes strings that end with a NUL: "1" (the version of the protocol), "jcmd", the command,
//     and two empty strings. HotSpot reads at most 1024 bytes of a command.
//   - HotSpot answers with a decimal number (0 for success), a newline, and text. Then it closes the connection.
//   - The client must have the JVM's effective user and group. Newer releases accept root as well. When gasm runs as
//     root, it takes on the JVM's user and group for every connection.
//
// SIGQUIT ends a process that does not handle it. It makes a JVM with -XX:+DisableAttachMechanism print the stacks of
// all its threads. So gasm first checks that the JVM handles SIGQUIT and allows attaching: it looks at the signal masks
// that the kernel reports, and at the flag in the JVM's memory. A JVM with -Xrs does not handle SIGQUIT, but listens
// from its start.
package jcmd
