package org.acme.build;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import scala.tools.nsc.MainClass;

/** Has Scala's compiler check the sources in the folder that is its argument, again and again, until it is killed. */
public class CompileScala {
    public static void main(String[] args) throws IOException {
        List<String> command = new ArrayList<>(List.of("-usejavacp", "-nowarn", "-Ystop-before:jvm"));
        try (Stream<Path> files = Files.walk(Path.of(args[0]))) {
            files.map(Path::toString).filter(f -> f.endsWith(".scala")).sorted().forEach(command::add);
        }
        System.out.println("READY");
        while (true) {
            if (!new MainClass().process(command.toArray(String[]::new))) {
                throw new IllegalStateException("the compiler has failed");
            }
        }
    }
}
