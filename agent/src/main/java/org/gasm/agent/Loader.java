package org.gasm.agent;

import jdk.internal.misc.Unsafe;

/**
 * Loads the whole agent at once, in JDK 9 and newer.
 *
 * If any of the JDK's own code is called about 200 times, the JVM compiles it, and keeps a profile of it in its
 * metaspace for ever. A loader of jars makes hundreds of methods of the JDK run for each class. With it, each of the
 * first ten attaches took 20 kB more. Here a class takes two calls: the JVM itself finds the other classes of the
 * agent, and asks this loader only for those of the JDK.
 */
final class Loader extends ClassLoader {
    private static final Unsafe UNSAFE = Unsafe.getUnsafe();

    private byte[] classes; // class files, each after its length
    private int at;

    private Loader(byte[] classes) {
        super(null);
        this.classes = classes;
    }

    /**
     * Loads the agent, and returns an object of its last class. Before the agent's classes, and before a length of 0,
     * are the classes that belong to the boot loader. They are only loaded if runtime is true.
     */
    static Object load(byte[] classes, boolean runtime) throws InstantiationException {
        Loader l = new Loader(classes);
        l.define(null, runtime);
        Object last = UNSAFE.allocateInstance(l.define(l, true));
        l.classes = null;
        return last;
    }

    /** Defines the classes up to a length of 0, or skips them if wanted is false. It returns the last one. */
    private Class<?> define(ClassLoader loader, boolean wanted) {
        Class<?> last = null;
        byte[] b = classes;
        while (true) {
            int length = b[at] << 24 | (b[at + 1] & 0xff) << 16 | (b[at + 2] & 0xff) << 8 | b[at + 3] & 0xff;
            at += 4;
            if (length == 0) {
                return last;
            }
            if (wanted) {
                last = UNSAFE.defineClass(null, b, at, length, loader, null);
            }
            at += length;
        }
    }

    /** The JVM calls this once for each class that does not belong to the agent. */
    @Override
    public Class<?> loadClass(String name) throws ClassNotFoundException {
        return Class.forName(name, false, null);
    }
}
