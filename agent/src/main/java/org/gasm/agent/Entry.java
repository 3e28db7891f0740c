package org.gasm.agent;

import java.lang.instrument.Instrumentation;
import java.util.function.BiFunction;

/** The way from Main to the agent. Its interface is one of the JDK's, because Main has another loader than the agent. */
public final class Entry implements BiFunction<String, Instrumentation, Boolean> {
    @Override
    public Boolean apply(String args, Instrumentation inst) {
        return Agent.run(args, inst);
    }
}
