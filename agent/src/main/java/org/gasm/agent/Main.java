package org.gasm.agent;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
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
 */
public final class Main {
    private static final String[] RUNTIME = {"java/lang/GasmRings", "java/lang/GasmProbes", "java/lang/GasmSites"};

    private Main() {}

    public static void premain(String args, Instrumentation inst) {
        run(args, inst, true);
    }

    public static void agentmain(String args, Instrumentation inst) {
        run(args, inst, false);
    }

    private static void run(String args, Instrumentation inst, boolean atStart) {
        try {
            Class<?> agent = hasModules() ? newAgent(inst) : oldAgent(args, inst);
            agent.getMethod("run", String.class, Instrumentation.class, boolean.class).invoke(null, args, inst, atStart);
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

    private static Class<?> oldAgent(String args, Instrumentation inst) throws Exception {
        try {
            Class.forName("java.lang.GasmProbes");
        } catch (Throwable e) { // or a SecurityException: this class's loader has found it, and may not define it
            String prefix = args.substring(args.indexOf(':') + 1);
            inst.appendToBootstrapClassLoaderSearch(new JarFile(prefix + "agent.jar"));
        }
        return Class.forName("org.gasm.agent.Agent"); // all loaders ask the boot loader first
    }

    private static Class<?> newAgent(Instrumentation inst) throws Exception {
        try {
            Class.forName("java.lang.GasmProbes", false, null);
        } catch (ClassNotFoundException e) {
            defineRuntime(inst);
        }
        return Class.forName("org.gasm.agent.Agent");
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
