package org.gasm.jmh;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * One benchmark with one set of parameters, in JMH's own JVM. It has a folder of captures, one for each fork, and makes
 * the report on all of them.
 *
 * <p>gasm always writes the capture of a fork into the same folder. It is moved away after the fork has ended. So it
 * does not matter whether JMH asks for the fork's command once or for each fork, and what a failed fork has left is
 * overwritten.
 */
final class Trial {

    private final Options options;
    private final BenchmarkParams params;
    private final Path work;     // contains the current capture and the windows
    private final Path captures; // of the forks that have ended
    private final Path current;
    private final Path windows;
    private int forks;           // number of forks that have ended
    private String frequency;    // that of the first fork, which the others also use

    Trial(Options options, BenchmarkParams params) throws IOException {
        this.options = options;
        this.params = params;
        work = Files.createTempDirectory("gasm-jmh-");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> remove(work)));
        current = work.resolve("capture");
        windows = work.resolve("windows");
        captures = options.directory() == null ? work.resolve("forks") : options.directory().resolve(fileName());
        if (options.directory() != null) {
            remove(captures); // captures of an earlier run
        }
        Files.createDirectories(captures);
    }

    boolean isOf(BenchmarkParams other) {
        return params.compareTo(other) == 0;
    }

    Path windowFile() {
        return windows;
    }

    /** Returns what is put before the fork's command. */
    List<String> invoke() {
        List<String> command = new ArrayList<>(Arrays.asList(options.executable(), "profile", "--record-only", "-o", current.toString()));
        if (!options.ownWindow()) {
            command.add("--window-file");
            command.add(windows.toString());
        }
        command.addAll(options.recording());
        if (frequency != null) { // so that samples of all forks stand for the same time
            command.addAll(Arrays.asList("--frequency", frequency, "--fixed-frequency"));
        }
        command.add("--");
        return command;
    }

    /** Creates the file to which the fork appends its windows. It begins with what the fork does not know. */
    void beforeFork() throws IOException {
        remove(current);
        String text = "trial " + name() + "\nfork " + (forks - params.getWarmupForks() + 1) + "\n";
        Files.write(windows, text.getBytes(StandardCharsets.UTF_8));
    }

    /** Keeps the capture of a fork that has ended. Returns the report after the last fork, else null. */
    ReportResult afterFork() throws IOException, InterruptedException {
        forks++;
        int measured = forks - params.getWarmupForks();
        if (measured <= 0) {
            return null;
        }
        if (!Files.isDirectory(current)) {
            return measured < params.getForks() ? null : none("gasm made no capture of the last fork; see its messages above.");
        }
        if (frequency == null) {
            frequency = find(FREQUENCY, current.resolve("capture.json"));
        }
        move(current, captures.resolve("fork-" + measured));
        return measured < params.getForks() ? null : new Reports(options, captures, fileName()).make();
    }

    /** Returns the result of a trial without a report. */
    static ReportResult none(String reason) {
        return new ReportResult(reason + System.lineSeparator(), Double.NaN);
    }

    /** Returns the name in JMH's progress lines: {@code org.sample.Bench.measure (size=10)}. */
    private String name() {
        String values = values("=", ", ");
        return values.isEmpty() ? params.getBenchmark() : params.getBenchmark() + " (" + values + ")";
    }

    /** Returns a name for files: {@code org.sample.Bench.measure-avgt-size-10}. */
    private String fileName() {
        String values = values("-", "-");
        String name = params.getBenchmark() + "-" + params.getMode().shortLabel() + (values.isEmpty() ? "" : "-" + values);
        name = name.replaceAll("[^A-Za-z0-9._$-]", "_");
        if (name.length() > 180) { // file names are limited to 255 bytes
            name = name.substring(0, 170) + "-" + Integer.toHexString(name.hashCode());
        }
        return name;
    }

    private String values(String equals, String between) {
        StringBuilder text = new StringBuilder();
        for (Object key : params.getParamsKeys()) {
            text.append(text.length() == 0 ? "" : between).append(key).append(equals).append(params.getParam(key.toString()));
        }
        return text.toString().replace('\n', ' ').replace('\r', ' ');
    }

    private static final Pattern FREQUENCY = Pattern.compile("\"frequency\": ([1-9][0-9]*)");

    /** Returns the first group of a pattern where it first matches in a file, or null if there is no file or no match. */
    static String find(Pattern pattern, Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            return null;
        }
        Matcher found = pattern.matcher(new String(Files.readAllBytes(file), StandardCharsets.UTF_8));
        return found.find() ? found.group(1) : null;
    }

    /** Moves a folder of files, if necessary to another file system. */
    private static void move(Path from, Path to) throws IOException {
        if (from.toFile().renameTo(to.toFile())) {
            return;
        }
        Files.createDirectories(to);
        File[] files = from.toFile().listFiles();
        for (File file : files == null ? new File[0] : files) {
            Files.copy(file.toPath(), to.resolve(file.getName()));
        }
        remove(from);
    }

    /** Removes a folder and its contents, as far as possible. */
    static void remove(Path folder) {
        if (!Files.isDirectory(folder)) {
            return;
        }
        try {
            Files.walkFileTree(folder, new SimpleFileVisitor<Path>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.deleteIfExists(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path dir, IOException e) throws IOException {
                    Files.deleteIfExists(dir);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            // The folder is among the temporary files, or gasm will report that it is not empty.
        }
    }
}
