package org.gasm.agent;

/**
 * The code that GasmProbes calls while it counts. It can't be probed, because counting a call would be another call.
 */
final class Own {
    private static final String[] PREFIXES = {
        "java.lang.GasmProbes", "java.lang.GasmRings", "java.lang.ThreadLocal", "java.nio.Direct", "java.nio.LongBuffer", "java.nio.Buffer",
        "java.nio.Bits", "jdk.internal.misc.ScopedMemoryAccess", "jdk.internal.foreign.", "jdk.internal.misc.Unsafe", "sun.misc.Unsafe",
        "java.lang.ref.Reference", "java.lang.ref.WeakReference", "java.util.Objects", "jdk.internal.util.Preconditions",
        "jdk.internal.misc.CarrierThreadLocal", "jdk.internal.misc.TerminatingThreadLocal",
    };

    /** The code that GasmSites calls to read a semaphore. */
    private static final String[] OF_SITES = {"java.lang.GasmSites", "java.lang.invoke."};

    private Own() {}

    static boolean sitesUse(String name) {
        for (String p : OF_SITES) {
            if (name.startsWith(p)) {
                return true;
            }
        }
        return false;
    }

    static boolean uses(String name) {
        for (String p : PREFIXES) {
            if (name.startsWith(p)) {
                return true;
            }
        }
        return name.equals("java.lang.Thread") || name.equals("java.lang.Object") || name.equals("java.lang.System") || name.equals("java.lang.Long");
    }
}
