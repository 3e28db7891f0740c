package jdk.internal.misc;

import java.security.ProtectionDomain;

/** What Loader calls in the JDK's class of this name. This class is for the compiler only, and is not in the jar. */
public final class Unsafe {
    private Unsafe() {}

    public static native Unsafe getUnsafe();

    public native Class<?> defineClass(String name, byte[] b, int off, int len, ClassLoader loader, ProtectionDomain protectionDomain);

    public native Object allocateInstance(Class<?> type) throws InstantiationException;
}
