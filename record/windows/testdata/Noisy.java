package org.gasm.noise;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Benchmarks that print in the middle of an iteration, or end in it. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@State(Scope.Thread)
public class Noisy {
    @Param({"lines"})
    public String what;

    private int calls;

    @Benchmark
    public int run() throws Exception {
        calls++;
        Thread.sleep(30);
        switch (what) {
            case "lines" -> System.out.print(calls + " calls\n\n# a comment\n# Progress: " + calls + "\n12.5 ms/op\nIteration 1: not JMH's\n");
            case "dots" -> System.out.print(".");
            case "halt" -> {
                if (calls == 14) {
                    System.out.println("going down");
                    Runtime.getRuntime().halt(3);
                }
            }
            default -> throw new IllegalStateException("failing on purpose");
        }
        return calls;
    }
}
