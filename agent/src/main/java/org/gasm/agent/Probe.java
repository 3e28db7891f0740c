package org.gasm.agent;

import org.objectweb.asm.Type;

/** What is to be probed: methods, the locks or the allocations in methods, or methods for other tracers. */
final class Probe {
    static final String METHOD = "method", LOCK = "lock", ALLOCATION = "alloc", SDT = "sdt";

    final String kind;
    final String text; // as the user wrote it
    final String className, method; // patterns, in which * is any text
    private final String internalName; // className with / for .
    final String[] arguments; // null for all overloads
    final boolean window;
    final boolean self; // the object is recorded with each call

    /** Whether a class of this name was seen, and how many methods of such classes are probed. */
    boolean classSeen;
    int matched;
    String refused; // why the last method that was not probed was refused
    String near; // similar names, if nothing matches

    /** Reads "method TAB text TAB class TAB method TAB arguments or - TAB options". */
    Probe(String line) {
        String[] f = line.split("\t", -1);
        kind = f[0];
        text = f[1];
        className = f[2];
        internalName = className.replace('.', '/');
        method = f[3];
        arguments = f[4].equals("-") ? null : f[4].isEmpty() ? new String[0] : f[4].split(",");
        window = f[5].contains("window");
        self = f[5].contains("this");
    }

    /** Reports whether calls are probed. If so, methods that override the named method are probed, too. */
    boolean ofCalls() {
        return kind.equals(METHOD) || kind.equals(SDT);
    }

    boolean matchesClass(String name) {
        return matches(className, name);
    }

    /** Does the same for a name in the form of class files. */
    boolean matchesInternal(String name) {
        return matches(internalName, name);
    }

    boolean exactClass() {
        return className.indexOf('*') < 0;
    }

    /**
     * Reports whether a method matches. A bridge, which calls the method of the same name, only matches if the probe
     * has the bridge's own argument types.
     */
    boolean matchesMethod(String name, String descriptor, boolean bridge) {
        if (!matches(method, name) || name.equals("<clinit>") && !method.equals("<clinit>")) {
            return false;
        }
        if (arguments == null) {
            return !bridge;
        }
        Type[] types = Type.getArgumentTypes(descriptor);
        if (types.length != arguments.length) {
            return false;
        }
        for (int i = 0; i < types.length; i++) {
            String full = types[i].getClassName();
            if (!full.equals(arguments[i]) && !full.endsWith("." + arguments[i]) && !full.endsWith("$" + arguments[i])) {
                return false;
            }
        }
        return true;
    }

    /** Reports whether a text matches a pattern, in which * is any text. */
    static boolean matches(String pattern, String text) {
        int star = pattern.indexOf('*');
        if (star < 0) {
            return pattern.equals(text);
        }
        if (!text.startsWith(pattern.substring(0, star))) {
            return false;
        }
        int at = star;
        while (true) {
            int next = pattern.indexOf('*', star + 1);
            if (next < 0) {
                String end = pattern.substring(star + 1);
                return text.length() - at >= end.length() && text.endsWith(end);
            }
            String part = pattern.substring(star + 1, next);
            int found = text.indexOf(part, at);
            if (found < 0) {
                return false;
            }
            at = found + part.length();
            star = next;
        }
    }
}
