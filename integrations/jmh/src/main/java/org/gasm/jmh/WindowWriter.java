package org.gasm.jmh;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;

import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.runner.IterationType;

/**
 * Writes, in a fork, when its measured iterations began and ended: a line each, which {@code gasm profile
 * --window-file} reads. {@link System#nanoTime()} is the clock of gasm's samples: CLOCK_MONOTONIC on Linux.
 */
final class WindowWriter {

    /** The system property with the file's name. Only forks have it. */
    static final String PROPERTY = "gasm.windows";

    private final String file;
    private final String pid;
    private long began;

    private WindowWriter(String file) {
        this.file = file;
        // "4711@host" in any HotSpot. ProcessHandle needs Java 9.
        String name = ManagementFactory.getRuntimeMXBean().getName();
        this.pid = name.substring(0, Math.max(0, name.indexOf('@')));
    }

    /** Returns the writer of this JVM, or null if it is not a fork under gasm. */
    static WindowWriter inFork() {
        String file = System.getProperty(PROPERTY);
        return file == null ? null : new WindowWriter(file);
    }

    void begin(IterationParams iteration) {
        if (iteration.getType() == IterationType.MEASUREMENT) {
            began = System.nanoTime();
        }
    }

    void end(IterationParams iteration, IterationResult result) {
        if (iteration.getType() != IterationType.MEASUREMENT) {
            return;
        }
        long ended = System.nanoTime();
        // No String.format: its first call takes 25 ms and would delay JMH's own line for the iteration.
        String text = "score " + result.getBenchmarkParams().getMode().shortLabel() + " " + result.getScoreUnit() + "\n"
            + "window " + pid + " " + began + " " + ended + " " + operations(result) + " " + score(result) + "\n";
        try (OutputStream out = new FileOutputStream(file, true)) {
            out.write(text.getBytes(StandardCharsets.UTF_8)); // a single write, so that no line is written in part
        } catch (IOException e) {
            throw new IllegalStateException("gasm: writing " + file + ": " + e.getMessage(), e);
        }
    }

    private static long operations(IterationResult result) {
        return result.getMetadata() == null ? 0 : Math.max(0, result.getMetadata().getMeasuredOps());
    }

    private static double score(IterationResult result) {
        double score = result.getPrimaryResult().getScore();
        return score > 0 && !Double.isInfinite(score) ? score : 0;
    }
}
