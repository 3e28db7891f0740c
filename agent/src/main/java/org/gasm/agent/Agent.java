package org.gasm.agent;

import java.io.IOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.PrivilegedExceptionAction;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The probes of one gasm in this JVM. The agent changes classes, and reports to gasm what it has changed.
 *
 * The report has the lines of FOLDER/probes-PID.txt. Their fields are separated by tabs:
 *
 *   object NAME                                            the shared object of GasmSites was loaded
 *   site ID KIND CLASS METHOD DESCRIPTOR window|- PROBE    a method is probed
 *   site ID sdt CLASS METHOD DESCRIPTOR FIRST[,static] PROBE
 *                                                          a method is probed by two of GasmSites' sites
 *   refused PROBE METHOD REASON                            a method can't be probed
 *   missing PROBE seen|unseen|idle NAMES                   a probe matches no method, but these names are similar
 *   started, stopped CLASSES, error TEXT
 */
public final class Agent implements ClassFileTransformer {
    private static final int MOST_SITES = 1024; // each needs a segment in each thread
    private static final int MOST_REFUSED = 64;

    private static Agent live; // null if there are no probes

    private final Instrumentation inst;
    private final List<Probe> probes = new ArrayList<Probe>();
    private final Map<String, Site> sites = new HashMap<String, Site>();
    private final Set<String> changed = new HashSet<String>(); // names of classes
    private final Hierarchy hierarchy = new Hierarchy();
    private final String prefix; // of the files that gasm has written
    private final String report;
    private String folder = ""; // of the report and the rings
    private String objects; // the folder of GasmSites' shared object
    private String rings;
    private int ringEvents, windowEvents;
    private long limit;
    private int refused;
    private boolean tooMany;
    private boolean sitesLoaded;
    private volatile boolean stopped;

    /**
     * Does what the argument of Main says, and reports whether there are probes afterwards. It never throws.
     *
     * "stop:" is always answered with a line "stopped". The line is in the report or, if there are no probes with this
     * prefix, in a file next to those with the prefix. That is needed because the gasm that stops the probes may not be
     * the one that started them, and because the folder may have been created anew meanwhile.
     */
    static synchronized boolean run(String args, Instrumentation inst) {
        String prefix = args.substring(args.indexOf(':') + 1);
        boolean own = live != null && live.prefix.equals(prefix);
        try {
            if (args.startsWith("stop:")) {
                if (own) {
                    end();
                } else {
                    Files.tryAppend(prefix + "probes-" + Files.processID() + ".txt", "stopped\t0");
                }
            } else if (!own || args.startsWith("attach:")) { // else the JVM has the option twice
                if (own) { // its gasm was killed, and somebody has removed the note
                    end();
                }
                begin(prefix, inst, args.startsWith("start:"));
            }
        } catch (Throwable e) {
            Files.tryAppend(prefix + "error", "error\t" + clean(e.toString()));
        }
        return live != null;
    }

    private static void end() {
        live.stop();
        live = null;
    }

    private static void begin(String prefix, Instrumentation inst, boolean atStart) throws Exception {
        Agent a = new Agent(prefix, inst);
        if (live != null) {
            a.tell("error\tanother gasm has probes in this JVM already");
            return;
        }
        a.start(atStart);
        live = a;
    }

    private Agent(String prefix, Instrumentation inst) throws IOException {
        this.inst = inst;
        this.prefix = prefix;
        for (String line : Files.read(prefix + "probes").split("\n")) {
            String[] f = line.split("\t", -1);
            if (f[0].equals("folder")) {
                folder = f[1];
                objects = f.length > 2 ? f[2] : folder;
            } else if (f[0].equals("rings")) {
                ringEvents = Integer.parseInt(f[1]);
                windowEvents = Integer.parseInt(f[2]);
                limit = Long.parseLong(f[3]);
            } else if (f.length > 1) {
                probes.add(new Probe(line));
            }
        }
        long pid = Files.processID();
        rings = folder + "/probes-" + pid + ".ring";
        report = folder + "/probes-" + pid + ".txt";
        startRings(pid);
    }

    private void startRings(final long pid) throws IOException {
        final Agent a = this;
        Files.privileged(new PrivilegedExceptionAction<Object>() {
            @Override
            public Object run() throws IOException {
                if (live == null) {
                    GasmProbes.start(a.rings, a.ringEvents, a.windowEvents, a.limit, pid);
                }
                return null;
            }
        });
    }

    private void start(boolean atStart) throws Exception {
        if (inst.isNativeMethodPrefixSupported()) {
            inst.addTransformer(this, true);
            inst.setNativeMethodPrefix(this, Rewriter.NATIVE_PREFIX);
        } else {
            inst.addTransformer(this, true);
        }
        if (anyOf(probes, Probe.SDT)) {
            loadSites();
        }
        for (Class<?> c : inst.getAllLoadedClasses()) {
            consider(c);
        }
        if (!atStart) {
            tellMissing();
        } else {
            Runtime.getRuntime().addShutdownHook(new Thread("gasm") {
                @Override
                public void run() {
                    if (!stopped) {
                        tellMissing();
                    }
                }
            });
        }
        tell("started");
    }

    /**
     * Loads a copy of gasm's shared object that only this JVM uses. A probe at a place in a file applies to all
     * processes that have mapped the file.
     */
    private void loadSites() throws IOException {
        final String name = GasmSites.fileName(Files.processID());
        final String path = objects + "/" + name;
        Files.copy(prefix + "sites.so", path);
        Files.privileged(new PrivilegedExceptionAction<Object>() {
            @Override
            public Object run() throws IOException {
                try {
                    GasmSites.load(path);
                } catch (Throwable e) {
                    throw new IOException("the shared object with the probes for other tracers can't be loaded: " + e);
                }
                return null;
            }
        });
        sitesLoaded = true;
        tell("object\t" + name);
    }

    /** If a class that was loaded before the agent is to be probed, makes the JVM load it anew. */
    private void consider(Class<?> c) {
        if (c.isArray() || c.isPrimitive()) {
            return;
        }
        String name = c.getName();
        List<Probe> wanted = new ArrayList<Probe>();
        for (Probe p : probes) {
            if (p.matchesClass(name) || p.exactClass() && p.ofCalls() && hierarchy.hasAncestor(c, p.className)) {
                wanted.add(p);
            }
        }
        if (wanted.isEmpty()) {
            return;
        }
        if (!inst.isModifiableClass(c)) {
            for (Probe p : wanted) {
                refuseHidden(p, new Class<?>[] {c});
            }
            return;
        }
        try {
            inst.retransformClasses(c);
        } catch (UnmodifiableClassException e) {
            refuse(wanted.get(0), name, "the JVM lets no agent change this class");
        } catch (Throwable e) {
            refuse(wanted.get(0), name, "the JVM did not take the changed class: " + e);
        }
    }

    /**
     * Refuses a probe of a class that can't be changed, such as a hidden class. The JVM does not pass those to agents.
     */
    private void refuseHidden(Probe p, Class<?>[] loaded) {
        for (Class<?> c : loaded) {
            String name = c.getName();
            if (!c.isArray() && p.matchesClass(name) && !inst.isModifiableClass(c)) {
                p.classSeen = true;
                refuse(p, name, name.indexOf('/') >= 0 ? "it is a hidden class, which no agent may change: probe the method that it calls"
                    : "the JVM lets no agent change this class");
                return;
            }
        }
    }

    @Override
    public byte[] transform(ClassLoader loader, String internalName, Class<?> redefined, ProtectionDomain domain, byte[] code) {
        if (internalName == null || stopped || internalName.startsWith("org/gasm/agent/")) {
            return null;
        }
        try {
            return change(loader, internalName, redefined, code);
        } catch (Throwable e) { // for example, a method would become too long
            for (Probe p : probes) {
                if (p.matchesInternal(internalName)) {
                    refuse(p, internalName.replace('/', '.'), "its class file could not be changed: " + e);
                    break;
                }
            }
            return null;
        }
    }

    private byte[] change(ClassLoader loader, String internalName, Class<?> redefined, byte[] code) {
        List<Probe> wanted = new ArrayList<Probe>();
        for (Probe p : probes) {
            if (p.matchesInternal(internalName)) {
                p.classSeen = true;
                wanted.add(p);
            } else if (p.ofCalls() && p.exactClass() && hierarchy.implementsProbe(loader, redefined, code, p)) {
                wanted.add(p);
            }
        }
        if (wanted.isEmpty()) {
            return null;
        }
        String name = internalName.replace('/', '.');
        if (Own.uses(name) || Own.sitesUse(name) && anyOf(wanted, Probe.SDT)) {
            refuse(wanted.get(0), name, "gasm's own code in the JVM needs it");
            return null;
        }
        Rewriter r = new Rewriter(this, code, wanted, redefined == null);
        byte[] result = r.rewrite();
        if (result != null) {
            publish(name, r.sites);
        }
        return result;
    }

    private static boolean anyOf(List<Probe> probes, String kind) {
        for (Probe p : probes) {
            if (p.kind.equals(kind)) {
                return true;
            }
        }
        return false;
    }

    /** Returns the site of a method, or null if there are too many sites. */
    synchronized Site site(Probe p, String className, String method, String descriptor, boolean isStatic) {
        String key = Site.key(p.kind, className, method, descriptor);
        Site s = sites.get(key);
        if (s == null) {
            if (sites.size() >= MOST_SITES) {
                if (!tooMany) {
                    tooMany = true;
                    refuse(p, className + "::" + method, "more than " + MOST_SITES + " methods are probed already: choose fewer");
                }
                return null;
            }
            s = new Site(sites.size() + 1, p, className, method, descriptor);
            s.isStatic = isStatic;
            if (p.kind.equals(Probe.SDT)) {
                s.first = GasmSites.add();
                if (s.first < 0) {
                    refuse(p, className + "::" + method, "all places for probes of other tracers that a JVM can have were used: restart it");
                    return null;
                }
            }
            sites.put(key, s);
        }
        return s;
    }

    private synchronized void publish(String className, List<Site> of) {
        changed.add(className);
        StringBuilder lines = new StringBuilder();
        for (Site s : of) {
            if (!s.told) {
                s.told = true;
                lines.append(lines.length() > 0 ? "\n" : "").append(clean(s.line(), false));
            }
        }
        if (lines.length() > 0) {
            tell(lines.toString());
        }
    }

    synchronized void refuse(Probe p, String what, String why) {
        p.refused = why;
        if (refused++ < MOST_REFUSED) {
            tell("refused\t" + clean(p.text) + "\t" + clean(what) + "\t" + clean(why));
        }
    }

    boolean wrapsNative() {
        return inst.isNativeMethodPrefixSupported();
    }

    /** Reports the probes that match no method. */
    private void tellMissing() {
        Class<?>[] loaded = null;
        for (Probe p : probes) {
            if (p.matched == 0 && p.refused == null) {
                loaded = loaded == null ? inst.getAllLoadedClasses() : loaded;
                refuseHidden(p, loaded);
            }
            if (p.matched == 0 && p.refused == null) {
                tell("missing\t" + clean(p.text) + "\t" + (!p.classSeen ? "unseen" : p.ofCalls() ? "seen" : "idle") + "\t" + clean(Names.near(p, loaded)));
            }
        }
    }

    /** Changes all changed classes back to what they were. */
    private void stop() {
        stopped = true;
        inst.removeTransformer(this);
        int restored = 0;
        for (Class<?> c : inst.getAllLoadedClasses()) {
            if (changed.contains(c.getName()) && inst.isModifiableClass(c)) {
                try {
                    inst.retransformClasses(c);
                    restored++;
                } catch (Throwable e) {
                    tell("error\t" + clean(c.getName() + " could not be changed back: " + e));
                }
            }
        }
        if (sitesLoaded) {
            GasmSites.unload();
        }
        GasmProbes.stop();
        tellMissing();
        tell("stopped\t" + restored);
    }

    private void tell(String lines) {
        Files.tryAppend(report, lines);
    }

    private static String clean(String text) {
        return clean(text, true);
    }

    /** Replaces characters that would begin another line or field. */
    private static String clean(String text, boolean tabs) {
        text = text.replace('\n', ' ').replace('\r', ' ');
        return tabs ? text.replace('\t', ' ') : text;
    }
}
