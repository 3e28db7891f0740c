package org.gasm.jmh;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/** Makes the reports on the captures of a trial's forks, with gasm. */
final class Reports {

    private final Options options;
    private final Path captures;
    private final String fileName;

    Reports(Options options, Path captures, String fileName) {
        this.options = options;
        this.captures = captures;
        this.fileName = fileName;
    }

    /** Makes all reports that the options ask for, and returns the text for JMH's output and the number of samples. */
    ReportResult make() throws IOException, InterruptedException {
        List<String> text = new ArrayList<>(options.reporting());
        if (options.saveLog() != null) {
            Path log = options.saveLogFile() != null ? options.saveLogFile() : options.saveLog().resolve(fileName + ".log");
            text.addAll(Arrays.asList("--save-log", log.toString()));
        }
        StringBuilder report = new StringBuilder(System.lineSeparator()).append(run(text));
        Path json = null;
        if (options.directory() != null) {
            for (String format : new String[] {"html", "json"}) {
                Path file = options.directory().resolve(fileName + "." + format);
                List<String> flags = new ArrayList<>(options.reporting());
                flags.addAll(Arrays.asList("--format", format, "--report", file.toString()));
                report.append(run(flags));
                json = file; // the last one
                report.append(format.equals("html") ? "Page:       " : "JSON:       ").append(file).append(System.lineSeparator());
            }
            report.append("Captures:   ").append(captures).append(System.lineSeparator());
        }
        return new ReportResult(report.toString(), json == null ? samples() : samplesIn(json));
    }

    /** Returns the number of samples in a profile without code, which takes gasm the least time. */
    private double samples() throws IOException, InterruptedException {
        Path json = Files.createTempFile("gasm-jmh-", ".json");
        try {
            List<String> flags = new ArrayList<>(options.reporting());
            flags.addAll(Arrays.asList("--format", "json", "--skip-asm", "--report", json.toString()));
            run(flags);
            return samplesIn(json);
        } finally {
            Files.delete(json);
        }
    }

    private static final Pattern PROFILED = Pattern.compile("\"profiled\": ?([0-9]+)");

    /** Returns the number of samples in the profile of a JSON report, of the first event if there are several; NaN if unknown. */
    private static double samplesIn(Path json) throws IOException {
        String samples = Trial.find(PROFILED, json);
        return samples == null ? Double.NaN : Double.parseDouble(samples);
    }

    private String run(List<String> flags) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(Arrays.asList(options.executable(), "report", "--no-pager"));
        command.addAll(flags);
        command.add(captures.toString());
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectInput(ProcessBuilder.Redirect.PIPE).start();
        process.getOutputStream().close();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] buffer = new byte[8192];
        try (InputStream in = process.getInputStream()) {
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                out.write(buffer, 0, n);
            }
        }
        int code = process.waitFor();
        String text = new String(out.toByteArray(), StandardCharsets.UTF_8);
        return code == 0 ? text : text + "gasm report ended with exit code " + code + System.lineSeparator();
    }
}
