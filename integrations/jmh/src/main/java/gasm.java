import org.gasm.jmh.GasmProfiler;
import org.openjdk.jmh.profile.ProfilerException;

/**
 * The profiler that {@code -prof gasm} names. JMH takes the option's value for the name of a class, so this one has
 * that name, and no package; all else is in {@link GasmProfiler}.
 */
public final class gasm extends GasmProfiler {

    /** For JMH's list of profilers ({@code -lprof}), which has no options for it. */
    public gasm() throws ProfilerException {
        this("");
    }

    public gasm(String options) throws ProfilerException {
        super(options);
    }
}
