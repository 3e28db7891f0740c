package org.gasm.bench;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** A synchronized counter that nobody else wants: lock and unlock fast paths, whose atomic instructions take the time. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
public class LockedCounter {
    @Param("1000")
    public int times;

    private long count;

    private synchronized long next() {
        return ++count;
    }

    @Benchmark
    public long increment() {
        long last = 0;
        for (int i = 0; i < times; i++) {
            last = next();
        }
        return last;
    }
}
