import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.h2.jdbcx.JdbcConnectionPool;

/**
 * A web server with 200 threads. For each request it asks a database through a pool of connections, waits for a bank that
 * answers after 100 ms, and updates statistics under a lock. The answer depends only on the number in the request. The
 * program prints its port, and runs until its input ends.
 */
public class Orders {
    static final int BANK_MILLIS = 100;

    public static void main(String[] args) throws Exception {
        QueuedThreadPool pool = new QueuedThreadPool(200, 200);
        pool.setName("http");
        Server server = new Server(pool);
        ServerConnector connector = new ServerConnector(server, 1, 1);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        server.setHandler(new OrderHandler(new Sales(), new Bank(), new Statistics()));
        server.start();
        System.out.println("READY " + connector.getLocalPort());
        while (System.in.read() >= 0) {
            // The end of the input is the end of the program.
        }
        System.exit(0);
    }

    static final class OrderHandler extends Handler.Abstract {
        private final Sales sales;
        private final Bank bank;
        private final Statistics statistics;

        OrderHandler(Sales sales, Bank bank, Statistics statistics) {
            this.sales = sales;
            this.bank = bank;
            this.statistics = statistics;
        }

        @Override
        public boolean handle(Request request, Response response, Callback callback) throws Exception {
            int number = Integer.parseInt(request.getHttpURI().getQuery());
            long price = sales.price(number % 100);
            int receipt = bank.pay(number);
            statistics.add(number);
            Content.Sink.write(response, true, "order " + number + " price " + price + " receipt " + receipt, callback);
            return true;
        }
    }

    static final class Sales {
        private final JdbcConnectionPool pool = JdbcConnectionPool.create("jdbc:h2:mem:sales;DB_CLOSE_DELAY=-1", "", "");

        Sales() throws Exception {
            pool.setMaxConnections(4);
            try (Connection db = pool.getConnection(); Statement s = db.createStatement()) {
                s.execute("create table sale(id int primary key, item int, amount int)");
                s.execute("create index of_item on sale(item)");
                s.execute("insert into sale select x, mod(x * 31, 100), mod(x * 7919, 1000) from system_range(1, 20000)");
            }
        }

        long price(int item) throws Exception {
            try (Connection db = pool.getConnection();
                 PreparedStatement s = db.prepareStatement("select sum(amount) from sale where item = ?")) {
                s.setInt(1, item);
                try (ResultSet r = s.executeQuery()) {
                    r.next();
                    return r.getLong(1);
                }
            }
        }
    }

    /** Asks another server, which is in the same process here. Each thread has its own connection. */
    static final class Bank {
        private final ServerSocket server = new ServerSocket(0);
        private final ThreadLocal<Socket> connections = new ThreadLocal<>();

        Bank() throws IOException {
            ExecutorService clerks = Executors.newCachedThreadPool(r -> {
                Thread t = new Thread(r, "clerk");
                t.setDaemon(true);
                return t;
            });
            clerks.submit(() -> {
                while (true) {
                    Socket client = server.accept();
                    clerks.submit(() -> serve(client));
                }
            });
        }

        private Void serve(Socket client) throws Exception {
            client.setTcpNoDelay(true);
            DataInputStream in = new DataInputStream(client.getInputStream());
            DataOutputStream out = new DataOutputStream(client.getOutputStream());
            while (true) {
                int number = in.readInt();
                Thread.sleep(BANK_MILLIS);
                out.writeInt(number * 7);
            }
        }

        int pay(int number) throws IOException {
            Socket s = connections.get();
            if (s == null) {
                s = new Socket("127.0.0.1", server.getLocalPort());
                s.setTcpNoDelay(true);
                connections.set(s);
            }
            new DataOutputStream(s.getOutputStream()).writeInt(number);
            return new DataInputStream(s.getInputStream()).readInt();
        }
    }

    static final class Statistics {
        private final int[] counts = new int[1 << 16];

        synchronized void add(int number) {
            counts[number % counts.length]++;
            int most = 0;
            for (int n : counts) {
                most = Math.max(most, n);
            }
            counts[0] = most;
        }
    }
}
