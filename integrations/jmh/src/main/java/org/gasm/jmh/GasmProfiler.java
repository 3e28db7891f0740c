package org.gasm.jmh;

import java.io.File;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.concurrent.atomic.AtomicBoolean;

import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.ExternalProfiler;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;

/**
 * Profiles JMH's forks with gasm.
 *
 * <p>JMH creates an object of this class for each benchmark with its parameters, both in its own JVM and in each fork.
 * In JMH's own JVM, {@link #addJVMInvokeOptions} puts {@code gasm profile} before the fork's command, and
 * {@link #afterTrial} keeps the capture that gasm has made. After the last fork it also makes the report. In the fork,
 * {@link #beforeIteration} and {@link #afterIteration} write the begin and the end of each measured iteration to a
 * file, whose name is in a system property. gasm reads the file after the fork has ended.
 */
public class GasmProfiler implements ExternalProfiler, InternalProfiler {

    private static final AtomicBoolean SAID = new AtomicBoolean();

    private final Options options;
    private final WindowWriter windows; // in a fork; null otherwise
    private Trial trial;                // in JMH's own JVM, for the benchmark that is running

    public GasmProfiler(String optionLine) throws ProfilerException {
        options = Options.parse(optionLine);
        windows = WindowWriter.inFork();
    }

    @Override
    public String getDescription() {
        return "gasm: the machine code in which the benchmark spends its time (-prof gasm:help lists the options)";
    }

    /** Returns whether this is JMH's own JVM and gasm was found. If gasm is missing, says once how to get it. */
    private boolean works() {
        if (windows != null) {
            return false;
        }
        if (options.executable() != null) {
            return true;
        }
        if (SAID.compareAndSet(false, true)) {
            System.err.println(options.howToGetGasm());
        }
        return false;
    }

    private Trial trialOf(BenchmarkParams params) throws IOException {
        if (trial == null || !trial.isOf(params)) {
            trial = new Trial(options, params);
        }
        return trial;
    }

    @Override
    public Collection<String> addJVMInvokeOptions(BenchmarkParams params) {
        if (!works()) {
            return Collections.emptyList();
        }
        try {
            return trialOf(params).invoke();
        } catch (IOException e) {
            throw failed("creating a folder for the capture", e);
        }
    }

    @Override
    public Collection<String> addJVMOptions(BenchmarkParams params) {
        if (!works()) {
            return Collections.emptyList();
        }
        try {
            return Collections.singletonList("-D" + WindowWriter.PROPERTY + "=" + trialOf(params).windowFile());
        } catch (IOException e) {
            throw failed("creating a folder for the capture", e);
        }
    }

    @Override
    public void beforeTrial(BenchmarkParams params) {
        if (!works()) {
            return;
        }
        try {
            trialOf(params).beforeFork();
        } catch (IOException e) {
            throw failed("creating a file for the windows", e);
        }
    }

    @Override
    public Collection<? extends Result> afterTrial(BenchmarkResult result, long pid, File stdOut, File stdErr) {
        if (!works()) {
            return Collections.emptyList();
        }
        try {
            ReportResult report = trialOf(result.getParams()).afterFork();
            return report == null ? Collections.<Result>emptyList() : Collections.singletonList(report);
        } catch (IOException | InterruptedException e) {
            // Do not lose the scores, which are worth more than the report.
            return Collections.singletonList(Trial.none("gasm made no report: " + e.getMessage()));
        }
    }

    @Override
    public boolean allowPrintOut() {
        return true;
    }

    @Override
    public boolean allowPrintErr() {
        return true;
    }

    @Override
    public void beforeIteration(BenchmarkParams params, IterationParams iteration) {
        if (windows != null) {
            windows.begin(iteration);
        } else if (params.getForks() == 0 && SAID.compareAndSet(false, true)) {
            System.err.println("# gasm profiles JMH's forks, but with -f 0 there are none: use -f 1");
        }
    }

    @Override
    public Collection<? extends Result> afterIteration(BenchmarkParams params, IterationParams iteration, IterationResult result) {
        if (windows != null) {
            windows.end(iteration, result);
        }
        return Collections.emptyList();
    }

    private static IllegalStateException failed(String what, IOException e) {
        return new IllegalStateException("gasm: " + what + ": " + e.getMessage(), e);
    }
}
