package org.acme.shop;

import java.lang.reflect.Method;
import java.util.concurrent.Executor;
import org.eclipse.jetty.http.pathmap.PathSpec;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.PathMappingsHandler;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * A web server with four handlers. It prints its port, and runs until its input ends. With the argument "virtual", each
 * request is handled by a virtual thread.
 */
public class Shop {
    public static void main(String[] args) throws Exception {
        QueuedThreadPool pool = new QueuedThreadPool(16);
        pool.setName("shop");
        if (args.length > 0 && args[0].equals("virtual")) {
            Method executor = Class.forName("java.util.concurrent.Executors").getMethod("newVirtualThreadPerTaskExecutor");
            pool.setVirtualThreadsExecutor((Executor) executor.invoke(null));
        }
        Server server = new Server(pool);
        ServerConnector connector = new ServerConnector(server, 1, 1);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        Catalogue catalogue = new Catalogue();
        PathMappingsHandler handlers = new PathMappingsHandler();
        handlers.addMapping(PathSpec.from("/search"), new SearchHandler(catalogue));
        handlers.addMapping(PathSpec.from("/order"), new OrderHandler(catalogue));
        handlers.addMapping(PathSpec.from("/report"), new ReportHandler(catalogue));
        handlers.addMapping(PathSpec.from("/image"), new ImageHandler());
        server.setHandler(handlers);
        server.start();
        System.out.println("READY " + connector.getLocalPort());
        while (System.in.read() >= 0) {
            // The end of the input is the end of the program.
        }
        System.exit(0);
    }
}
