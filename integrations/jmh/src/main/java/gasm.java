import org.gasm.jmh.GasmProfiler;
import org.openjdk.jmh.profile.ProfilerException;

/**
 * The profiler that {@code -prof gasm} stands for. JMH takes the option's value as the name of a class, so this class
 * is named gasm and has no package. The implementation is in {@link GasmProfiler}.
 */
public final class gasm extends GasmProfiler {

    /** Used by JMH's list of profilers ({@code -lprof}), which passes no options. */
    public gasm() throws ProfilerException {
        this("");
    }

    public gasm(String options) throws ProfilerException {
        super(options);
    }
}
