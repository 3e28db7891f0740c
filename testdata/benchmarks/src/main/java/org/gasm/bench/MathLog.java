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

/** Math.log over an array: most of the time is in a VM stub (StubRoutines::libmLog on x86), not in compiled Java. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
public class MathLog {
    @Param("1024")
    public int size;

    private double[] values;

    @Setup
    public void fill() {
        values = new double[size];
        for (int i = 0; i < size; i++) {
            values[i] = 1.0 + i * 0.37;
        }
    }

    @Benchmark
    public double logs() {
        double sum = 0;
        for (double value : values) {
            sum += Math.log(value);
        }
        return sum;
    }
}
