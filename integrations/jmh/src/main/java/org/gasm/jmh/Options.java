package org.gasm.jmh;

import java.io.File;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.openjdk.jmh.profile.ProfilerException;

/**
 * The options after {@code -prof gasm:}. Each has the form {@code name=value}; semicolons separate them. An option that
 * JMH's perfasm has as well has the same name.
 */
final class Options {

    /** What an option stands for: a flag of gasm, or something that this class does. */
    private enum Kind { RECORDING, REPORTING, MILLIS, SWITCH, TURN_OFF, HERE }

    private static final class Option {
        final Kind kind;
        final String flag;
        final String help;

        Option(Kind kind, String flag, String help) {
            this.kind = kind;
            this.flag = flag;
            this.help = help;
        }
    }

    private static final Map<String, Option> KNOWN = new LinkedHashMap<>();
    private static final Map<String, String> REFUSED = new LinkedHashMap<>();

    private static void add(String name, Kind kind, String flag, String help) {
        KNOWN.put(name, new Option(kind, flag, help));
    }

    static {
        add("dir", Kind.HERE, "", "folder for the captures, and for a page and a JSON report of each benchmark");
        add("gasm", Kind.HERE, "", "path of gasm; by default $GASM, or else gasm on the PATH");
        add("events", Kind.RECORDING, "--event", "events to sample, as perf names them, separated by commas");
        add("frequency", Kind.RECORDING, "--frequency", "samples per second and CPU, about; the first fork draws a frequency near it for all forks");
        add("sampler", Kind.RECORDING, "--sampler", "auto, native, perf or dtrace");
        add("stacks", Kind.RECORDING, "--stacks", "on: record call stacks, which take time of the benchmark; off by default");
        add("sudo", Kind.SWITCH, "--sudo", "run dtrace with sudo");
        add("code", Kind.RECORDING, "--code", "auto, copy or print: how to get the code");
        add("hotspotEvents", Kind.RECORDING, "--events", "events that HotSpot logs: gc,safepoint,compile or none");
        add("delay", Kind.MILLIS, "--delay", "begin to measure after this time, in ms; -1: JMH's measured iterations");
        add("length", Kind.MILLIS, "--length", "measure for this long, in ms; -1: JMH's measured iterations");
        add("hotThreshold", Kind.REPORTING, "--hot-threshold", "annotate regions from this share on, such as 0.10");
        add("top", Kind.REPORTING, "--top", "rows of each table");
        add("regions", Kind.REPORTING, "--regions", "annotate at least this many regions");
        add("tooBigThreshold", Kind.REPORTING, "--too-big-threshold", "show only parts of a region with more instructions than this");
        add("printMargin", Kind.REPORTING, "--print-margin", "number of instructions shown before and after a region");
        add("mergeMargin", Kind.REPORTING, "--merge-margin", "join sampled instructions at most this many bytes apart");
        add("mergeMethods", Kind.SWITCH, "--merge-methods", "show one region per method");
        add("showCounts", Kind.REPORTING, "--show-counts", "raw, norm (per operation) or percent_total");
        add("sort", Kind.REPORTING, "--sort", "sort frames by self or total");
        add("comments", Kind.REPORTING, "--comments", "folded, full or none");
        add("source", Kind.REPORTING, "--source", "a folder or jar of sources");
        add("thread", Kind.REPORTING, "--thread", "count only samples of app, jit, gc or jvm threads");
        add("width", Kind.REPORTING, "--width", "columns of the report");
        add("ascii", Kind.SWITCH, "--ascii", "draw with ASCII only");
        add("intelSyntax", Kind.SWITCH, "--intel-syntax", "Intel syntax");
        add("drawIntraJumps", Kind.TURN_OFF, "--draw-intra-jumps", "arrows of jumps within a region");
        add("drawInterJumps", Kind.SWITCH, "--draw-inter-jumps", "mark jumps that leave a region");
        add("skipAsm", Kind.SWITCH, "--skip-asm", "no annotated code");
        add("skipInterpreter", Kind.SWITCH, "--skip-interpreter", "leave the interpreter out of the tables");
        add("skipVMStubs", Kind.SWITCH, "--skip-vm-stubs", "leave stubs out of the tables");
        add("saveLog", Kind.HERE, "", "save all code with its samples to a file");
        add("saveLogTo", Kind.HERE, "", "folder of that file; by default the current one");
        add("saveLogToFile", Kind.HERE, "", "name of that file");

        String kept = "gasm keeps its samples as text in the capture: dir=FOLDER";
        for (String name : new String[] {"savePerf", "savePerfTo", "savePerfToFile", "savePerfBin", "savePerfBinTo", "savePerfBinToFile"}) {
            REFUSED.put(name, kept);
        }
        REFUSED.put("printCompilationInfo", "HotSpot would print it into the benchmark's own output; hotspotEvents=compile logs compilations");
        REFUSED.put("perfBin", "it is for xperf on Windows, which gasm does not run on");
        REFUSED.put("symbolDir", "it is for xperf on Windows, which gasm does not run on");
        REFUSED.put("xperf.dir", "it is for xperf on Windows, which gasm does not run on");
        REFUSED.put("xperf.providers", "it is for xperf on Windows, which gasm does not run on");
    }

    private final List<String> recording = new ArrayList<>();
    private final List<String> reporting = new ArrayList<>();
    private final Map<String, String> here = new LinkedHashMap<>();
    private boolean ownWindow;

    private Options() {
    }

    static Options parse(String line) throws ProfilerException {
        Options o = new Options();
        for (String word : (line == null ? "" : line).split(";")) {
            word = word.trim();
            if (word.isEmpty()) {
                continue;
            }
            if (word.equals("help")) {
                throw new ProfilerException(help());
            }
            int at = word.indexOf('=');
            o.take(at < 0 ? word : word.substring(0, at).trim(), at < 0 ? "true" : word.substring(at + 1).trim());
        }
        return o;
    }

    private void take(String name, String value) throws ProfilerException {
        Option option = KNOWN.get(name);
        if (option == null) {
            String reason = REFUSED.get(name);
            throw new ProfilerException(reason != null ? "gasm does not have perfasm's option " + name + ": " + reason
                : "gasm has no option " + name + "; -prof gasm:help lists its options");
        }
        switch (option.kind) {
            case RECORDING:
                recording.addAll(Arrays.asList(option.flag, value));
                break;
            case REPORTING:
                reporting.addAll(Arrays.asList(option.flag, value.equals("percent_total") ? "percent" : value));
                break;
            case MILLIS:
                takeMillis(name, option.flag, value);
                break;
            case SWITCH:
                if (isOn(name, value)) {
                    (option.flag.equals("--sudo") ? recording : reporting).add(option.flag);
                }
                break;
            case TURN_OFF:
                if (!isOn(name, value)) {
                    reporting.add(option.flag + "=false");
                }
                break;
            default:
                here.put(name, value);
        }
    }

    private static boolean isOn(String name, String value) throws ProfilerException {
        if (!value.equals("true") && !value.equals("false")) {
            throw new ProfilerException("gasm: " + name + " is " + value + "; it must be true or false");
        }
        return value.equals("true");
    }

    private void takeMillis(String name, String flag, String value) throws ProfilerException {
        int millis;
        try {
            millis = Integer.parseInt(value);
        } catch (NumberFormatException e) {
            throw new ProfilerException("gasm: " + name + " is " + value + "; it must be a number of milliseconds");
        }
        if (millis >= 0) {
            recording.addAll(Arrays.asList(flag, millis + "ms"));
            ownWindow = ownWindow || millis > 0;
        }
    }

    /** Returns flags for {@code gasm profile}. */
    List<String> recording() {
        return recording;
    }

    /** Returns flags for {@code gasm report}. */
    List<String> reporting() {
        return reporting;
    }

    /** Returns whether the options set what is measured, instead of JMH's iterations. */
    boolean ownWindow() {
        return ownWindow;
    }

    /** Returns the folder for captures and reports, or null if they are not kept. */
    Path directory() {
        return here.containsKey("dir") ? Paths.get(here.get("dir")).toAbsolutePath() : null;
    }

    /** Returns the folder for the annotated log, or null if there is to be none. */
    Path saveLog() {
        boolean asked = here.containsKey("saveLogTo") || here.containsKey("saveLogToFile") || "true".equals(here.get("saveLog"));
        return asked ? Paths.get(here.getOrDefault("saveLogTo", ".")).toAbsolutePath() : null;
    }

    /** Returns the file for the annotated log if its name was given, or null. */
    Path saveLogFile() {
        return here.containsKey("saveLogToFile") ? Paths.get(here.get("saveLogToFile")).toAbsolutePath() : null;
    }

    /** Returns the path of gasm, or null if it was not found. */
    String executable() {
        String named = here.getOrDefault("gasm", System.getenv("GASM"));
        if (named != null && !named.isEmpty()) {
            File file = new File(named);
            return file.isFile() && file.canExecute() ? file.getAbsolutePath() : null;
        }
        String path = System.getenv("PATH");
        for (String folder : (path == null ? "" : path).split(File.pathSeparator)) {
            File file = new File(folder, "gasm");
            if (!folder.isEmpty() && file.isFile() && file.canExecute()) {
                return file.getAbsolutePath();
            }
        }
        return null;
    }

    /** Returns a line of help for users without gasm. */
    String howToGetGasm() {
        String named = here.getOrDefault("gasm", System.getenv("GASM"));
        String missing = named == null || named.isEmpty() ? "there is no gasm on the PATH" : named + " is not a program";
        return "# gasm: " + missing + ", so nothing is profiled; to get it: go install github.com/gasm-profiler/gasm/cmd/gasm@latest";
    }

    static String help() {
        StringBuilder text = new StringBuilder("options of -prof gasm, as name=value, separated by semicolons:\n");
        for (Map.Entry<String, Option> e : KNOWN.entrySet()) {
            text.append(String.format("  %-16s %s%n", e.getKey(), e.getValue().help));
        }
        text.append("perfasm's options that gasm does not have:\n");
        for (Map.Entry<String, String> e : REFUSED.entrySet()) {
            text.append(String.format("  %-16s %s%n", e.getKey(), e.getValue()));
        }
        return text.toString();
    }
}
