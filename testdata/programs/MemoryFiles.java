import java.util.Map;
import java.util.TreeMap;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;

/** Keeps what javac writes. */
final class MemoryFiles extends ForwardingJavaFileManager<StandardJavaFileManager> {
    final Map<String, MemoryFile> classes = new TreeMap<>();

    MemoryFiles(StandardJavaFileManager files) {
        super(files);
    }

    @Override
    public JavaFileObject getJavaFileForOutput(
            JavaFileManager.Location where, String name, JavaFileObject.Kind kind, FileObject sibling) {
        return classes.computeIfAbsent(name, n -> new MemoryFile(n, kind, ""));
    }
}
