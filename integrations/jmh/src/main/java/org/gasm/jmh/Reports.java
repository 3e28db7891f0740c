package org.gasm.jmh;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

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

    /** Makes all reports that the options ask for, and returns the text for JMH's output. */
    String make() throws IOException, InterruptedException {
        List<String> text = new ArrayList<>(options.reporting());
        if (options.saveLog() != null) {
            Path log = options.saveLogFile() != null ? options.saveLogFile() : options.saveLog().resolve(fileName + ".log");
            text.addAll(Arrays.asList("--save-log", log.toString()));
        }
        StringBuilder report = new StringBuilder(System.lineSeparator()).append(run(text));
        if (options.directory() != null) {
            for (String format : new String[] {"html", "json"}) {
                Path file = options.directory().resolve(fileName + "." + format);
                List<String> flags = new ArrayList<>(options.reporting());
                flags.addAll(Arrays.asList("--format", format, "--report", file.toString()));
                report.append(run(flags));
                report.append(format.equals("html") ? "Page:       " : "JSON:       ").append(file).append(System.lineSeparator());
            }
            report.append("Captures:   ").append(captures).append(System.lineSeparator());
        }
        return report.toString();
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
