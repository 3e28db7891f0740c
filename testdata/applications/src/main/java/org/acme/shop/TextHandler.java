package org.acme.shop;

import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** Answers a request with a text. */
abstract class TextHandler extends Handler.Abstract {
    abstract String text(int number) throws Exception;

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        String query = request.getHttpURI().getQuery();
        String text = text(query == null ? 0 : Integer.parseInt(query));
        Content.Sink.write(response, true, text, callback);
        return true;
    }
}
