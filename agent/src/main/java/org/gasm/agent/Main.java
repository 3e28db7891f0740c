package org.gasm.agent;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.net.URL;
import java.net.URLClassLoader;
import java.security.ProtectionDomain;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.jar.JarFile;

/**
 * Where the JVM enters the agent. The argument is "start:PREFIX" or "stop:PREFIX"; the agent's jar is PREFIXagent.jar, and what it is
 * to do is in PREFIXprobes.
 *
 * What probed methods call must be a class of the boot loader's. JDK 9 and newer define it there one by one: a jar that is appended to
 * the boot class path has the JVM print a warning, and load fewer classes from its archive. JDK 8 appends the jar, and has all of the
 * agent there, because a security manager lets the boot loader's classes alone read files.
 *
 * JDK 9 and newer load the rest of the agent, which has most of its size, by a loader of its own. At the end nothing leads to that any more,
 * so the next collection that unloads classes frees it, with what compilers have noted of its methods.
 */
public final class Main {
    private static final String[] RUNTIME = {"java/lang/GasmRings", "java/lang/GasmProbes", "java/lang/GasmSites"};

    private static URLClassLoader loader; // of the agent at work; null without
    private static Class<?> agent; // null likewise

    private Main() {}

    public static void premain(String args, Instrumentation inst) {
        run(args, inst, true);
    }

    public static void agentmain(String args, Instrumentation inst) {
        run(args, inst, false);
    }

    private static synchronized void run(String args, Instrumentation inst, boolean atStart) {
        try {
            if (agent == null) {
                String jar = args.substring(args.indexOf(':') + 1) + "agent.jar";
                agent = hasModules() ? newAgent(jar, inst) : oldAgent(jar, inst);
            }
            Object live = agent.getMethod("run", String.class, Instrumentation.class, boolean.class).invoke(null, args, inst, atStart);
            if (loader != null && !(Boolean) live) {
                agent = null;
                loader.close();
                loader = null;
            }
        } catch (Throwable e) { // The program must not fail. gasm sees that nothing was written.
        }
    }

    private static boolean hasModules() {
        try {
            Class.forName("java.lang.Module");
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private static Class<?> oldAgent(String jar, Instrumentation inst) throws Exception {
        try {
            Class.forName("java.lang.GasmProbes");
        } catch (Throwable e) { // or a SecurityException: this class's loader has found it, and may not define it
            inst.appendToBootstrapClassLoaderSearch(new JarFile(jar));
        }
        return Class.forName("org.gasm.agent.Agent"); // all loaders ask the boot loader first
    }

    private static Class<?> newAgent(String jar, Instrumentation inst) throws Exception {
        try {
            Class.forName("java.lang.GasmProbes", false, null);
        } catch (ClassNotFoundException e) {
            defineRuntime(inst);
        }
        loader = new URLClassLoader(new URL[] {new File(jar).toURI().toURL()}, null);
        return loader.loadClass("org.gasm.agent.Agent");
    }

    /** Defines what probed methods call, by the JDK's own jdk.internal.misc.Unsafe, which is opened to this class before. */
    private static void defineRuntime(Instrumentation inst) throws Exception {
        Class<?> module = Class.forName("java.lang.Module");
        Object base = Class.class.getMethod("getModule").invoke(Object.class);
        Object own = Class.class.getMethod("getModule").invoke(Main.class);
        Map<String, Set<Object>> exports = Collections.singletonMap("jdk.internal.misc", Collections.singleton(own));
        Instrumentation.class.getMethod("redefineModule", module, Set.class, Map.class, Map.class, Set.class, Map.class)
            .invoke(inst, base, Collections.emptySet(), exports, Collections.emptyMap(), Collections.emptySet(), Collections.emptyMap());
        Class<?> type = Class.forName("jdk.internal.misc.Unsafe");
        Object unsafe = type.getMethod("getUnsafe").invoke(null);
        for (String name : RUNTIME) {
            byte[] code = read(Main.class.getResourceAsStream("/" + name + ".class"));
            type.getMethod("defineClass", String.class, byte[].class, int.class, int.class, ClassLoader.class, ProtectionDomain.class)
                .invoke(unsafe, name, code, 0, code.length, null, null);
        }
    }

    static byte[] read(InputStream in) throws IOException {
        try {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] part = new byte[8192];
            for (int n; (n = in.read(part)) > 0; ) {
                out.write(part, 0, n);
            }
            return out.toByteArray();
        } finally {
            in.close();
        }
    }
}
