package org.acme.shop;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Asks the server at the port that is its argument, by four connections, until its input ends. */
public class Load {
    private static final String[] PATHS = {"/search", "/order", "/report", "/image", "/order", "/search", "/order"};

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[0]);
        for (int i = 0; i < 4; i++) {
            int client = i;
            Thread t = new Thread(() -> ask(port, client));
            t.setDaemon(true);
            t.start();
        }
        while (System.in.read() >= 0) {
            // The end of the input is the end of the program.
        }
        System.exit(0);
    }

    private static void ask(int port, int client) {
        try (Socket s = new Socket("127.0.0.1", port)) {
            s.setTcpNoDelay(true);
            InputStream in = new BufferedInputStream(s.getInputStream());
            OutputStream out = s.getOutputStream();
            for (int i = client; ; i++) {
                String request = "GET " + PATHS[i % PATHS.length] + "?" + i % 10_000 + " HTTP/1.1\r\nHost: shop\r\n\r\n";
                out.write(request.getBytes(StandardCharsets.ISO_8859_1));
                skipAnswer(in);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void skipAnswer(InputStream in) throws IOException {
        int length = 0;
        String line = line(in);
        if (!line.startsWith("HTTP/1.1 200")) {
            throw new IOException(line);
        }
        while (!line.isEmpty()) {
            if (line.regionMatches(true, 0, "Content-Length: ", 0, 16)) {
                length = Integer.parseInt(line.substring(16));
            }
            line = line(in);
        }
        in.skipNBytes(length);
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                throw new IOException("the server has closed the connection");
            }
            if (c != '\r') {
                line.append((char) c);
            }
        }
        return line.toString();
    }
}
