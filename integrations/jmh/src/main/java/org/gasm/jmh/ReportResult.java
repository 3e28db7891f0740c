package org.gasm.jmh;

import java.util.Collection;
import java.util.stream.Collectors;

import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.Aggregator;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ResultRole;

/**
 * The report on a benchmark. Its score is the number of samples in the profile. JMH has a row for each result in its table,
 * and the row of a {@code TextResult}, which has no score, says NaN.
 */
final class ReportResult extends Result<ReportResult> {

    private static final long serialVersionUID = 1;

    private final String report;

    /** The number of samples is NaN if there is no profile. */
    ReportResult(String report, double samples) {
        super(ResultRole.SECONDARY, "gasm", of(samples), "samples", AggregationPolicy.SUM);
        this.report = report;
    }

    @Override
    protected Aggregator<ReportResult> getThreadAggregator() {
        return ReportResult::join;
    }

    @Override
    protected Aggregator<ReportResult> getIterationAggregator() {
        return ReportResult::join;
    }

    private static ReportResult join(Collection<ReportResult> results) {
        return new ReportResult(results.stream().map(ReportResult::extendedInfo).collect(Collectors.joining()),
                results.stream().mapToDouble(ReportResult::getScore).sum());
    }

    @Override
    public String extendedInfo() {
        return report;
    }
}
