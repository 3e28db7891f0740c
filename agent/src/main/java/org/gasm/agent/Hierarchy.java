package org.gasm.agent;

import java.io.InputStream;
import java.lang.reflect.Modifier;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Finds out which classes implement a probed abstract method. While a class is loaded, its superclasses and interfaces
 * may not be loaded yet, so their class files are read.
 */
final class Hierarchy {
    private static final int MOST = 20000; // maximum number of class files that are remembered

    private final Map<String, Entry> entries = new ConcurrentHashMap<String, Entry>();

    /** What a class file says about its class. */
    private static final class Entry {
        String[] above = {};
        final Set<String> abstractMethods = new HashSet<String>();
        boolean known;
    }

    /** Reports whether a loaded class has a superclass or an interface of this name. */
    boolean hasAncestor(Class<?> c, String name) {
        try {
            for (Class<?> k = c; k != null; k = k.getSuperclass()) {
                if (k != c && k.getName().equals(name)) {
                    return true;
                }
                for (Class<?> i : k.getInterfaces()) {
                    if (i.getName().equals(name) || hasAncestor(i, name)) {
                        return true;
                    }
                }
            }
        } catch (Throwable e) { // a superclass is damaged
        }
        return false;
    }

    /** Reports whether a class implements an abstract method that is probed. */
    boolean implementsProbe(ClassLoader loader, Class<?> loaded, byte[] code, Probe p) {
        if (p.method.indexOf('*') < 0 && !contains(code, p.method)) {
            return false;
        }
        if (loaded != null && !hasAncestor(loaded, p.className)) {
            return false;
        }
        String target = p.className.replace('.', '/');
        if (loaded == null && !reaches(loader, read(code), target, new HashSet<String>())) {
            return false;
        }
        Entry e = entry(loader, target);
        if (!e.known) { // its class file could not be read
            return loaded != null && isAbstract(loaded, p.className);
        }
        for (String method : e.abstractMethods) {
            int at = method.indexOf('(');
            if (p.matchesMethod(method.substring(0, at), method.substring(at), false)) {
                p.classSeen = true;
                return true;
            }
        }
        return false;
    }

    /** Reports whether a class's ancestor of this name is an abstract class or an interface. */
    private static boolean isAbstract(Class<?> c, String name) {
        for (Class<?> k = c; k != null; k = k.getSuperclass()) {
            if (k.getName().equals(name)) {
                return Modifier.isAbstract(k.getModifiers());
            }
        }
        return true;
    }

    private boolean reaches(ClassLoader loader, Entry e, String target, Set<String> seen) {
        for (String name : e.above) {
            if (name.equals(target)) {
                return true;
            }
            if (!name.equals("java/lang/Object") && seen.add(name) && reaches(loader, entry(loader, name), target, seen)) {
                return true;
            }
        }
        return false;
    }

    private Entry entry(ClassLoader loader, String name) {
        Entry e = entries.get(name);
        if (e != null) {
            return e;
        }
        e = new Entry();
        if (entries.size() < MOST) {
            entries.put(name, e); // also ends the recursion if a class leads back to itself
        }
        try {
            InputStream in = loader == null ? ClassLoader.getSystemResourceAsStream(name + ".class") : loader.getResourceAsStream(name + ".class");
            if (in != null) {
                Entry found = read(Files.readAll(in));
                e.above = found.above;
                e.abstractMethods.addAll(found.abstractMethods);
                e.known = true;
            }
        } catch (Throwable t) { // it stays unknown
        }
        return e;
    }

    private static Entry read(byte[] code) {
        final Entry e = new Entry();
        byte[] copy = code.clone();
        if (copy[7] > Opcodes.V25) {
            copy[7] = Opcodes.V25;
        }
        ClassReader r = new ClassReader(copy);
        String[] interfaces = r.getInterfaces();
        String above = r.getSuperName();
        e.above = java.util.Arrays.copyOf(interfaces, interfaces.length + (above == null ? 0 : 1));
        if (above != null) {
            e.above[interfaces.length] = above;
        }
        r.accept(new ClassVisitor(Opcodes.ASM9) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
                if ((access & Opcodes.ACC_ABSTRACT) != 0) {
                    e.abstractMethods.add(name + descriptor);
                }
                return null;
            }
        }, ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        return e;
    }

    /** Reports whether a class file contains a name, without parsing the file. */
    private static boolean contains(byte[] code, String name) {
        int n = name.length();
        outer:
        for (int i = 10; i + n <= code.length; i++) {
            for (int j = 0; j < n; j++) {
                if (code[i + j] != (byte) name.charAt(j)) {
                    continue outer;
                }
            }
            return true;
        }
        return false;
    }
}
