package org.gasm.agent;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.security.AccessController;
import java.security.PrivilegedActionException;
import java.security.PrivilegedExceptionAction;

/** Reads and writes files even if the program's own code is not allowed to. */
final class Files {
    private Files() {}

    static Object privileged(PrivilegedExceptionAction<Object> action) throws IOException {
        try {
            return AccessController.doPrivileged(action);
        } catch (PrivilegedActionException e) {
            throw (IOException) e.getException();
        }
    }

    static byte[] readAll(InputStream in) throws IOException {
        try {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] part = new byte[8192];
            for (int n; (n = in.read(part)) > 0; ) {
                out.write(part, 0, n);
            }
            return out.toByteArray();
        } finally {
            in.close();
        }
    }

    static String read(final String path) throws IOException {
        return (String) privileged(new PrivilegedExceptionAction<Object>() {
            @Override
            public Object run() throws IOException {
                return new String(readAll(new FileInputStream(path)), "UTF-8");
            }
        });
    }

    /**
     * Copies a file. If the target exists, a new file takes its place, because the JVM may have mapped the old one.
     */
    static void copy(final String from, final String to) throws IOException {
        privileged(new PrivilegedExceptionAction<Object>() {
            @Override
            public Object run() throws IOException {
                byte[] content = readAll(new FileInputStream(from));
                new File(to).delete();
                FileOutputStream out = new FileOutputStream(to);
                try {
                    out.write(content);
                } finally {
                    out.close();
                }
                return null;
            }
        });
    }

    /** Appends lines to a file, if that can be done. */
    static synchronized void tryAppend(final String path, final String lines) {
        try {
            privileged(new PrivilegedExceptionAction<Object>() {
                @Override
                public Object run() throws IOException {
                    FileOutputStream out = new FileOutputStream(path, true);
                    try {
                        out.write((lines + "\n").getBytes("UTF-8"));
                    } finally {
                        out.close();
                    }
                    return null;
                }
            });
        } catch (Throwable e) { // gasm reports that the file is missing
        }
    }

    /** Returns the process id of this JVM. */
    static long processID() throws IOException {
        return (Long) privileged(new PrivilegedExceptionAction<Object>() {
            @Override
            public Object run() throws IOException {
                byte[] text = new byte[16];
                InputStream in = new FileInputStream("/proc/self/stat"); // "4711 (java) S ..."
                try {
                    int n = in.read(text);
                    long id = 0;
                    for (int i = 0; i < n && text[i] >= '0' && text[i] <= '9'; i++) {
                        id = 10 * id + text[i] - '0';
                    }
                    return id;
                } finally {
                    in.close();
                }
            }
        });
    }
}
