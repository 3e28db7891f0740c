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
import org.openjdk.jmh.results.TextResult;

/**
 * Has gasm profile JMH's forks.
 *
 * <p>JMH makes an object of this class for each benchmark with its parameters, in its own JVM and in each fork. In its
 * own JVM, {@link #addJVMInvokeOptions} puts {@code gasm profile} in front of the fork's command, and
 * {@link #afterTrial} takes the capture that gasm has made; the last fork's makes the report. In the fork,
 * {@link #beforeIteration} and {@link #afterIteration} write down when each measured iteration began and ended, into
 * the file whose name the fork has from a system property. gasm reads it when the fork has ended.
 */
public class GasmProfiler implements ExternalProfiler, InternalProfiler {

    private static final AtomicBoolean SAID = new AtomicBoolean();

    private final Options options;
    private final WindowWriter windows; // in a fork; else null
    private Trial trial;                // in JMH's own JVM, of the benchmark that it runs now

    public GasmProfiler(String optionLine) throws ProfilerException {
        options = Options.parse(optionLine);
        windows = WindowWriter.inFork();
    }

    @Override
    public String getDescription() {
        return "gasm: the machine code that the benchmark's time is spent in (-prof gasm:help has the options)";
    }

    /** In JMH's own JVM: whether there is a gasm. Otherwise it is said once how to get one. */
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
            throw failed("making a folder for the capture", e);
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
            throw failed("making a folder for the capture", e);
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
            throw failed("making a file for the windows", e);
        }
    }

    @Override
    public Collection<? extends Result> afterTrial(BenchmarkResult result, long pid, File stdOut, File stdErr) {
        if (!works()) {
            return Collections.emptyList();
        }
        try {
            String report = trialOf(result.getParams()).afterFork();
            return report == null ? Collections.<Result>emptyList() : Arrays.asList(new TextResult(report, "gasm"));
        } catch (IOException | InterruptedException e) {
            // The scores are there, and worth more than the report.
            return Arrays.asList(new TextResult("gasm made no report: " + e.getMessage() + System.lineSeparator(), "gasm"));
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
            System.err.println("# gasm profiles forks of JMH, and with -f 0 there is none: use -f 1");
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
