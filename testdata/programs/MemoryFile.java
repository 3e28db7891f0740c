import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.net.URI;
import javax.tools.SimpleJavaFileObject;

/** A class file or its source, in memory. */
final class MemoryFile extends SimpleJavaFileObject {
    final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    final String text;

    MemoryFile(String name, Kind kind, String text) {
        super(URI.create("memory:///" + name.replace('.', '/') + kind.extension), kind);
        this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
        return text;
    }

    @Override
    public OutputStream openOutputStream() {
        return bytes;
    }
}
