package org.gasm.agent;

import java.lang.reflect.Method;
import java.util.TreeMap;

/** Finds what a user may have meant by a probe that matches no method. */
final class Names {
    private static final int SHOWN = 3;
    private static final int FAR = 4; // a distance in edits that is too large

    private Names() {}

    /** Returns the nearest names, separated by ", ". It returns "" if there are none. */
    static String near(Probe p, Class<?>[] loaded) {
        TreeMap<String, String> found = new TreeMap<String, String>(); // by distance and name
        for (Class<?> c : loaded) {
            if (c.isArray() || c.isPrimitive()) {
                continue;
            }
            if (p.classSeen) {
                if (p.matchesClass(c.getName())) {
                    addMethods(found, c, p.method);
                }
            } else {
                int distance = classDistance(p.className, c.getName());
                if (distance <= FAR) {
                    add(found, distance, c.getName());
                }
            }
        }
        StringBuilder names = new StringBuilder();
        int n = 0;
        for (String name : found.values()) {
            if (n++ < SHOWN) {
                names.append(names.length() > 0 ? ", " : "").append(name);
            }
        }
        return names.toString();
    }

    private static void add(TreeMap<String, String> found, int distance, String name) {
        found.put((char) ('a' + distance) + name, name);
        while (found.size() > SHOWN) {
            found.remove(found.lastKey());
        }
    }

    private static void addMethods(TreeMap<String, String> found, Class<?> c, String wanted) {
        for (Class<?> k = c; k != null; k = k.getSuperclass()) {
            try {
                for (Method m : k.getDeclaredMethods()) {
                    int distance = distance(wanted, m.getName());
                    if (distance <= FAR) {
                        add(found, distance, k.getName() + "::" + m.getName());
                    }
                }
            } catch (Throwable e) { // a method's type can't be loaded
            }
        }
    }

    /** Compares the whole names and also, in case the package is missing or wrong, only their last parts. */
    private static int classDistance(String wanted, String name) {
        String a = wanted.substring(wanted.lastIndexOf('.') + 1), b = name.substring(name.lastIndexOf('.') + 1);
        if (Math.abs(a.length() - b.length()) > FAR) {
            return FAR + 1;
        }
        return Math.min(distance(wanted, name), distance(a, b) + 1);
    }

    private static int distance(String a, String b) {
        a = a.toLowerCase();
        b = b.toLowerCase();
        if (Math.abs(a.length() - b.length()) > FAR || Math.max(a.length(), b.length()) > 200) {
            return FAR + 1;
        }
        int[] last = new int[b.length() + 1], row = new int[b.length() + 1];
        for (int j = 0; j < last.length; j++) {
            last[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int change = last[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(change, Math.min(last[j], row[j - 1]) + 1);
            }
            int[] t = last;
            last = row;
            row = t;
        }
        int d = last[b.length()];
        return d <= Math.max(a.length(), 3) / 3 + 1 ? d : FAR + 1;
    }
}
