package org.gasm.agent;

import java.lang.instrument.Instrumentation;
import java.util.function.BiFunction;

/**
 * What Main calls in the agent. Its type is an interface of the JDK, because Main has another class loader than the
 * agent.
 */
public final class Entry implements BiFunction<String, Instrumentation, Boolean> {
    @Override
    public Boolean apply(String args, Instrumentation inst) {
        return Agent.run(args, inst);
    }
}
