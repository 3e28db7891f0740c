package org.gasm.bench;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** A loop that C2 turns into vector instructions: pre-loop, unrolled vector loop, post-loop in one method. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
public class VectorSum {
    @Param("4096")
    public int size;

    private int[] values;
    private int[] weights;

    @Setup
    public void fill() {
        values = new int[size];
        weights = new int[size];
        for (int i = 0; i < size; i++) {
            values[i] = i * 0x9E3779B9;
            weights[i] = i & 15;
        }
    }

    @Benchmark
    public int sum() {
        int[] v = values;
        int[] w = weights;
        int sum = 0;
        for (int i = 0; i < v.length; i++) {
            sum += v[i] * w[i];
        }
        return sum;
    }
}
