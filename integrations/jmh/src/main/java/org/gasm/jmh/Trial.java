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
 * One benchmark with one set of parameters, in JMH's own JVM: its folder of captures, one for each fork, and the report
 * on all of them.
 *
 * <p>gasm writes the capture of a fork always into the same folder, from where it is moved when the fork has ended. So
 * it does not matter whether JMH asks for the fork's command once or for each fork, and what a fork that failed has
 * left is written over.
 */
final class Trial {

    private final Options options;
    private final BenchmarkParams params;
    private final Path work;     // has the current capture and the windows
    private final Path captures; // has those of the forks that have ended
    private final Path current;
    private final Path windows;
    private int forks;           // that have ended
    private String frequency;    // at which the first fork was sampled, so that all are alike

    Trial(Options options, BenchmarkParams params) throws IOException {
        this.options = options;
        this.params = params;
        work = Files.createTempDirectory("gasm-jmh-");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> remove(work)));
        current = work.resolve("capture");
        windows = work.resolve("windows");
        captures = options.directory() == null ? work.resolve("forks") : options.directory().resolve(fileName());
        if (options.directory() != null) {
            remove(captures); // of an earlier run
        }
        Files.createDirectories(captures);
    }

    boolean isOf(BenchmarkParams other) {
        return params.compareTo(other) == 0;
    }

    Path windowFile() {
        return windows;
    }

    /** What is put in front of the fork's command. */
    List<String> invoke() {
        List<String> command = new ArrayList<>(Arrays.asList(options.executable(), "profile", "--record-only", "-o", current.toString()));
        if (!options.ownWindow()) {
            command.add("--window-file");
            command.add(windows.toString());
        }
        command.addAll(options.recording());
        if (frequency != null && !options.recording().contains("--frequency")) {
            command.addAll(Arrays.asList("--frequency", frequency));
        }
        command.add("--");
        return command;
    }

    /** Makes the file that the fork writes its windows to, with what the fork does not know. */
    void beforeFork() throws IOException {
        remove(current);
        String text = "trial " + name() + "\nfork " + (forks - params.getWarmupForks() + 1) + "\n";
        Files.write(windows, text.getBytes(StandardCharsets.UTF_8));
    }

    /** Takes the capture of a fork that has ended. The last fork's gives the report; null for the others. */
    String afterFork() throws IOException, InterruptedException {
        forks++;
        int measured = forks - params.getWarmupForks();
        if (measured <= 0) {
            return null;
        }
        if (!Files.isDirectory(current)) {
            return measured < params.getForks() ? null : "gasm has left no capture of the last fork; see its messages above." + System.lineSeparator();
        }
        if (frequency == null) {
            frequency = frequencyOf(current);
        }
        move(current, captures.resolve("fork-" + measured));
        return measured < params.getForks() ? null : new Reports(options, captures, fileName()).make();
    }

    /** JMH's own name of what it measures: {@code org.sample.Bench.measure (size=10)}, as in its progress lines. */
    private String name() {
        String values = values("=", ", ");
        return values.isEmpty() ? params.getBenchmark() : params.getBenchmark() + " (" + values + ")";
    }

    /** A name for files: {@code org.sample.Bench.measure-avgt-size-10}. */
    private String fileName() {
        String values = values("-", "-");
        String name = params.getBenchmark() + "-" + params.getMode().shortLabel() + (values.isEmpty() ? "" : "-" + values);
        name = name.replaceAll("[^A-Za-z0-9._$-]", "_");
        if (name.length() > 180) { // a file's name may have 255 bytes
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

    private static String frequencyOf(Path capture) throws IOException {
        Path description = capture.resolve("capture.json");
        if (!Files.isRegularFile(description)) {
            return null;
        }
        Matcher found = FREQUENCY.matcher(new String(Files.readAllBytes(description), StandardCharsets.UTF_8));
        return found.find() ? found.group(1) : null;
    }

    /** Moves a folder of files, also to another file system. */
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

    /** Removes a folder with all that is in it. What can't be removed stays. */
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
            // It is in the folder for temporary files, or gasm says that the folder is not empty.
        }
    }
}
