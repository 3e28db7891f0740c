import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;

/**
 * Asks a database in memory, whose driver is on the class path, for -Dsec seconds, and for -Drounds rounds if these take
 * longer.
 */
public class Database {
    static final int ROWS = Integer.getInteger("rows", 20_000);

    public static void main(String[] args) throws Exception {
        long least = Long.getLong("rounds", 0);
        long end = System.nanoTime() + 1_000_000_000L * Integer.getInteger("sec", 3);
        try (Connection db = DriverManager.getConnection("jdbc:h2:mem:test")) {
            fill(db);
            long rounds = 0, sum = 0;
            System.out.println("READY");
            while (System.nanoTime() < end || rounds < least) {
                sum += ask(db, "select count(*), sum(amount) from sale where item = ?", rounds % 100);
                sum += ask(db, "select max(s.amount), count(*) from sale s join item i on s.item = i.id where i.name like ?", "item " + rounds % 7 + "%");
                sum += ask(db, "select count(*), min(amount) from (select * from sale where amount > ? order by amount, id) x", rounds % 500);
                rounds++;
            }
            System.out.println("rounds " + rounds + " sum " + sum);
        }
    }

    static void fill(Connection db) throws Exception {
        try (Statement s = db.createStatement()) {
            s.execute("create table item(id int primary key, name varchar(40))");
            s.execute("create table sale(id int primary key, item int, amount int)");
            s.execute("create index of_item on sale(item)");
        }
        try (PreparedStatement item = db.prepareStatement("insert into item values(?, ?)");
             PreparedStatement sale = db.prepareStatement("insert into sale values(?, ?, ?)")) {
            for (int i = 0; i < 100; i++) {
                item.setInt(1, i);
                item.setString(2, "item " + i);
                item.execute();
            }
            for (int i = 0; i < ROWS; i++) {
                sale.setInt(1, i);
                sale.setInt(2, i * 31 % 100);
                sale.setInt(3, (i * 7919) % 1000);
                sale.execute();
            }
        }
    }

    static long ask(Connection db, String query, Object value) throws Exception {
        try (PreparedStatement s = db.prepareStatement(query)) {
            s.setObject(1, value);
            try (ResultSet r = s.executeQuery()) {
                long sum = 0;
                while (r.next()) {
                    sum += r.getLong(1) + r.getLong(2);
                }
                return sum;
            }
        }
    }
}
