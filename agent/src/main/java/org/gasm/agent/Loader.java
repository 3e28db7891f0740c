package org.gasm.agent;

import jdk.internal.misc.Unsafe;

/**
 * Loads the agent, all of it at once, in JDK 9 and newer.
 *
 * Whatever of the JDK's own code is called some 200 times is compiled, and then the JVM keeps a profile of it in its metaspace, for ever. A
 * loader of jars has the JDK call hundreds of methods for each class, so that it took 20 kB more for each of the first ten attaches. Here
 * a class takes two calls: the JVM itself finds the other classes of the agent, and asks this loader for those of the JDK alone.
 */
final class Loader extends ClassLoader {
    private static final Unsafe UNSAFE = Unsafe.getUnsafe();

    private byte[] classes; // class files, each behind its length
    private int at;

    private Loader(byte[] classes) {
        super(null);
        this.classes = classes;
    }

    /**
     * Loads the agent, and gives an object of its last class. In front of its classes, and of a length of 0, are those that the boot loader
     * is to have, unless it has them.
     */
    static Object load(byte[] classes, boolean runtime) throws InstantiationException {
        Loader l = new Loader(classes);
        l.define(null, runtime);
        Object last = UNSAFE.allocateInstance(l.define(l, true));
        l.classes = null;
        return last;
    }

    /** Defines the classes up to a length of 0, or passes them by, and gives the last one. */
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

    /** Is called by the JVM, once for each class that is not one of the agent. */
    @Override
    public Class<?> loadClass(String name) throws ClassNotFoundException {
        return Class.forName(name, false, null);
    }
}
