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
 * Writes down in a fork when its measured iterations began and ended, a line each, which {@code gasm profile
 * --window-file} reads. {@link System#nanoTime()} is the clock of gasm's samples: CLOCK_MONOTONIC on Linux.
 */
final class WindowWriter {

    /** The system property that has the file's name. A fork has it, and no other JVM. */
    static final String PROPERTY = "gasm.windows";

    private final String file;
    private final String pid;
    private long began;

    private WindowWriter(String file) {
        this.file = file;
        // "4711@host", which any HotSpot has; ProcessHandle is of Java 9.
        String name = ManagementFactory.getRuntimeMXBean().getName();
        this.pid = name.substring(0, Math.max(0, name.indexOf('@')));
    }

    /** The writer of this JVM; null where it is no fork with gasm in front. */
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
        // No String.format: the first call takes 25 ms, in which JMH's own line for the iteration waits.
        String text = "score " + result.getBenchmarkParams().getMode().shortLabel() + " " + result.getScoreUnit() + "\n"
            + "window " + pid + " " + began + " " + ended + " " + operations(result) + " " + score(result) + "\n";
        try (OutputStream out = new FileOutputStream(file, true)) {
            out.write(text.getBytes(StandardCharsets.UTF_8)); // one write, so that no line is there in part
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
