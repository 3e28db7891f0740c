package org.gasm.bench;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Walks a HashMap: loads that wait for loads, and a deep inlining chain through java.util into the benchmark. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
public class MapWalk {
    @Param("4096")
    public int size;

    private Map<Integer, Integer> map;

    @Setup
    public void fill() {
        Random random = new Random(42);
        map = new HashMap<>();
        while (map.size() < size) {
            map.put(random.nextInt(), random.nextInt());
        }
    }

    @Benchmark
    public long walk() {
        long sum = 0;
        for (Map.Entry<Integer, Integer> entry : map.entrySet()) {
            sum += entry.getKey() ^ entry.getValue();
        }
        return sum;
    }
}
