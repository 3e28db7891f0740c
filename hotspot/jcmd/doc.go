// Package jcmd has a running JVM do what jcmd can have it do: start and end a recording, change what it logs.
//
//	p, err := foreign.Open(4711)
//	text, err := jcmd.Run(ctx, p, "VM.version")
//	err = jcmd.StartRecording(ctx, p, "gasm", settings, "")
//	err = jcmd.StopRecording(ctx, p, "gasm", file)
//
// It needs no JDK. It talks to HotSpot as jcmd does (attachListener.cpp, attachListener_posix.cpp;
// VirtualMachineImpl.java):
//
//   - HotSpot listens at a socket, /tmp/.java_pid<pid>, once it has been asked to: by a file /tmp/.attach_pid<pid>
//     that belongs to its user, and then SIGQUIT. Both paths are of the JVM's own mount namespace, and both
//     numbers of its own PID namespace: /proc/4711/root/tmp/.java_pid1.
//     A /tmp that is a link is not followed, because it would lead to a folder of gasm's own root.
//   - A client connects and writes strings with a NUL behind each: "1" (the protocol's version), "jcmd", the
//     command, and two that are empty. HotSpot reads at most 1024 bytes of a command.
//   - It answers with a decimal number, 0 where all went well, a newline, and text; and closes the connection.
//   - The client must be of the JVM's effective user and group. Root may talk to all since JDK 9, so root
//     takes on the JVM's for the connection.
//
// SIGQUIT ends a process that does not handle it, and makes a JVM that does not want to be asked
// (-XX:+DisableAttachMechanism) print all its threads' stacks. So both are found out before: by what the kernel
// says of its signals, and by the flag in its memory. A JVM with -Xrs handles no SIGQUIT, but listens from its start.
package jcmd
