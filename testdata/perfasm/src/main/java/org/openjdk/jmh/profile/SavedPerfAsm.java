package org.openjdk.jmh.profile;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.BenchmarkResultMetaData;
import org.openjdk.jmh.results.Result;

/**
 * JMH's own perfasm on saved files instead of a run: {@code SavedPerfAsm EVENT SAMPLES ASMLOG}.
 *
 * <p>SAMPLES is the text of {@code perf script --fields time,event,ip,sym,dso}. Everything is counted, whatever its time.
 * The lines on stdout have fields with tabs between:
 *
 * <pre>
 * method   ROW                           of perfasm's table "Hottest Methods (after inlining)"
 * region   BEGIN END COUNT SOURCE NAME   one of perfasm's regions; END is its last sampled address
 * address  PC SOURCE NAME                what perfasm's assembly has at a sampled address
 * </pre>
 *
 * <p>The class is in JMH's package because regions are visible only there. The environment needs {@code JMH_PERF=true}:
 * perfasm asks perf whether it knows the event, and no perf is needed here.
 */
public final class SavedPerfAsm extends LinuxPerfAsmProfiler {
    private static final String TABLE = "[Hottest Methods (after inlining)]";

    private final Path samples;

    private SavedPerfAsm(String event, Path samples, Path log) throws ProfilerException, IOException {
        super("events=" + event + ";showCounts=raw;top=" + Integer.MAX_VALUE + ";delay=0;length=" + Integer.MAX_VALUE);
        this.samples = samples;
        copy(log, hsLog.file().toPath());
    }

    public static void main(String[] args) throws Exception {
        String event = args[0];
        SavedPerfAsm perfasm = new SavedPerfAsm(event, Path.of(args[1]), Path.of(args[2]));
        List<String> lines = new ArrayList<>();
        perfasm.parseEvents();
        perfasm.listRegions(event, lines);
        perfasm.listMethods(lines); // last: it deletes the files
        System.out.println(String.join("\n", lines));
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.write(to, Files.readAllBytes(from));
    }

    /** Instead of perf script. */
    @Override
    protected void parseEvents() {
        try {
            copy(samples, perfParsedData.file().toPath());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void listMethods(List<String> out) {
        BenchmarkResultMetaData noTimes = new BenchmarkResultMetaData(0, 0, 0, 1, 1);
        String report = "";
        for (Result<?> r : afterTrial(new BenchmarkResult(null, List.of(), noTimes), 0, null, null)) {
            report += r.extendedInfo();
        }
        String table = report.substring(report.indexOf('\n', report.indexOf(TABLE)) + 1);
        table = table.substring(0, table.indexOf("\n...."));
        for (String row : table.split("\n")) {
            // "  587   runtime stub  StubRoutines::libmLog ": source and name can have spaces, so they are not split here.
            out.add("method\t" + row);
        }
    }

    private void listRegions(String event, List<String> out) throws ReflectiveOperationException {
        Method readAssembly = AbstractPerfAsmProfiler.class.getDeclaredMethod("readAssembly", File.class);
        readAssembly.setAccessible(true);
        Assembly assembly = (Assembly) readAssembly.invoke(this, hsLog.file());
        PerfEvents events = readEvents(0, Integer.MAX_VALUE);
        Method makeRegions = null;
        for (Method m : AbstractPerfAsmProfiler.class.getDeclaredMethods()) {
            if (m.getName().equals("makeRegions")) {
                makeRegions = m;
            }
        }
        makeRegions.setAccessible(true);
        for (Object o : (List<?>) makeRegions.invoke(this, assembly, events, null)) {
            Region r = (Region) o;
            out.add(String.join("\t", "region", Long.toHexString(r.begin), Long.toHexString(r.end),
                    "" + r.getEventCount(events, event), r.desc().source(), r.desc().name()));
        }
        SortedSet<Long> sampled = events.getAllAddresses();
        for (long pc : sampled) {
            MethodDesc desc = assembly.getMethod(pc);
            if (desc != null) {
                out.add(String.join("\t", "address", Long.toHexString(pc), desc.source(), desc.name()));
            }
        }
    }
}
