package org.acme.shop;

import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.zip.Deflater;

/** Compresses a made-up image, and says its checksum. */
class ImageHandler extends TextHandler {
    @Override
    String text(int number) throws Exception {
        byte[] image = new byte[64 << 10];
        for (int i = 0; i < image.length; i++) {
            image[i] = (byte) (i * number >>> 7);
        }
        Deflater deflater = new Deflater();
        try {
            deflater.setInput(image);
            deflater.finish();
            int length = deflater.deflate(new byte[image.length]);
            return length + " " + HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(image));
        } finally {
            deflater.end();
        }
    }
}
