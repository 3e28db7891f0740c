package org.gasm.agent;

/** A probed method, or a method whose locks or allocations are probed. Classes of one name in several loaders share it. */
final class Site {
    final int id;
    final String kind, className, method, descriptor;
    Probe probe; // that it is of; of several the one that is a window
    boolean window, self; // what any of its probes asks for
    boolean told; // gasm knows of it
    int first; // of GasmSites' two; of the kind SDT alone
    boolean isStatic; // likewise

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

    /** The line that tells gasm of it. */
    String line() {
        return "site\t" + id + "\t" + kind + "\t" + className + "\t" + method + "\t" + descriptor + "\t" + options() + "\t" + probe.text;
    }
}
