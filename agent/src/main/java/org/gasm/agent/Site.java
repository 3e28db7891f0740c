package org.gasm.agent;

/**
 * A probed method, or a method whose locks or allocations are probed. Classes with the same name in several class
 * loaders share a Site.
 */
final class Site {
    final int id;
    final String kind, className, method, descriptor;
    Probe probe; // that chose the method; if there are several, the one that is a window
    boolean window, self; // true if any of its probes asks for it
    boolean told; // it was reported to gasm
    int first; // the first of its two sites in GasmSites; only for the kind SDT
    boolean isStatic; // only for the kind SDT

    Site(int id, Probe probe, String className, String method, String descriptor) {
        this.id = id;
        this.probe = probe;
        this.kind = probe.kind;
        this.className = className;
        this.method = method;
        this.descriptor = descriptor;
    }

    static String key(String kind, String className, String method, String descriptor) {
        return kind + " " + className + " " + method + descriptor;
    }

    /** Adds what a probe asks for. */
    void add(Probe p) {
        if (p.window && !window) {
            probe = p;
        }
        window |= p.window;
        self |= p.self;
        p.matched++;
    }

    private String options() {
        if (kind.equals(Probe.SDT)) {
            return first + (isStatic ? ",static" : "");
        }
        return window ? "window" : "-";
    }

    /** Returns the line that reports this site to gasm. */
    String line() {
        return "site\t" + id + "\t" + kind + "\t" + className + "\t" + method + "\t" + descriptor + "\t" + options() + "\t" + probe.text;
    }
}
