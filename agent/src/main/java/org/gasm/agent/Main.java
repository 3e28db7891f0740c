package org.gasm.agent;

import java.io.RandomAccessFile;
import java.lang.instrument.Instrumentation;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.jar.JarFile;

/**
 * The entry point of the agent. The argument is "start:PREFIX" when the JVM starts, "attach:PREFIX" later, or
 * "stop:PREFIX". The agent's jar is PREFIXagent.jar. The classes in it are also in PREFIXagent.classes. PREFIXprobes
 * says what the agent is to do.
 *
 * Code that probed methods call must belong to the boot loader. JDK 9 and newer define these classes one by one: if a
 * jar were appended to the boot class path, the JVM would print a warning and load fewer classes from its archive. JDK
 * 8 appends the jar, so that the whole agent belongs to the boot loader. It must, because a security manager lets only
 * the boot loader's classes read files.
 *
 * In JDK 9 and newer, most of the agent is loaded by a class loader of its own. At the end, nothing refers to that
 * loader any more. So the next garbage collection that unloads classes frees the agent, and what compilers have
 * recorded about its methods.
 */
public final class Main {
    private static BiFunction<String, Instrumentation, Boolean> agent; // null if it is not loaded
    private static boolean prepared; // the boot loader has what probed methods call

    private Main() {}

    public static void premain(String args, Instrumentation inst) {
        run(args, inst);
    }

    public static void agentmain(String args, Instrumentation inst) {
        run(args, inst);
    }

    private static synchronized void run(String args, Instrumentation inst) {
        try {
            if (agent == null) {
                agent = load(args.substring(args.indexOf(':') + 1), inst);
            }
            if (!agent.apply(args, inst) && agent.getClass().getClassLoader() != null) {
                agent = null;
            }
        } catch (Throwable e) { // The program must not fail. gasm sees that nothing was written.
        }
    }

    @SuppressWarnings("unchecked")
    private static BiFunction<String, Instrumentation, Boolean> load(String prefix, Instrumentation inst) throws Exception {
        return (BiFunction<String, Instrumentation, Boolean>) (hasModules() ? newAgent(prefix, inst) : oldAgent(prefix, inst));
    }

    private static boolean hasModules() {
        try {
            Class.forName("java.lang.Module");
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private static Object oldAgent(String prefix, Instrumentation inst) throws Exception {
        try {
            Class.forName("java.lang.GasmProbes");
        } catch (Throwable e) { // or a SecurityException: this class's loader has found GasmProbes, but may not define it
            inst.appendToBootstrapClassLoaderSearch(new JarFile(prefix + "agent.jar"));
        }
        return Class.forName("org.gasm.agent.Entry").newInstance(); // all loaders ask the boot loader first
    }

    private static Object newAgent(String prefix, Instrumentation inst) throws Exception {
        byte[] classes;
        try (RandomAccessFile f = new RandomAccessFile(prefix + "agent.classes", "r")) {
            classes = new byte[(int) f.length()];
            f.readFully(classes);
        }
        if (!prepared) {
            exportUnsafe(inst);
        }
        Object loaded = Loader.load(classes, !prepared);
        prepared = true;
        return loaded;
    }

    /** Lets the module of this class call the JDK's own Unsafe. */
    private static void exportUnsafe(Instrumentation inst) throws Exception {
        Class<?> module = Class.forName("java.lang.Module");
        Object base = Class.class.getMethod("getModule").invoke(Object.class);
        Object own = Class.class.getMethod("getModule").invoke(Main.class);
        Map<String, Set<Object>> exports = Collections.singletonMap("jdk.internal.misc", Collections.singleton(own));
        Instrumentation.class.getMethod("redefineModule", module, Set.class, Map.class, Map.class, Set.class, Map.class)
            .invoke(inst, base, Collections.emptySet(), exports, Collections.emptyMap(), Collections.emptySet(), Collections.emptyMap());
    }
}
