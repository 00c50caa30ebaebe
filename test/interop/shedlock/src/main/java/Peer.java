// Peer.java: a Java service on ShedLock, with the time of the database, that is
// told what to do, one line at a time, and answers each with one line.  One
// rule: ShedLock never waits, so that its `once` is one try.
//
//   once NAME LEASE_MS [LEAST_MS]      true | false: lockAtMostFor, lockAtLeastFor
//   unlock NAME                        ok | not owner
//   extend NAME LEASE_MS               true | false
//   mix NAME THREADS ROUNDS SEED FILE  exact (see Mix.java)
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

public final class Peer {
    private final String port;
    private final LockProvider provider;
    private final Map<String, SimpleLock> holds = new HashMap<>();

    private Peer(String port) {
        this.port = port;
        provider = provider(port);
    }

    // On a connection of its own, for one thread.
    static LockProvider provider(String port) {
        SingleConnectionDataSource source = new SingleConnectionDataSource(
            "jdbc:postgresql://127.0.0.1:" + port + "/postgres", "postgres", "",
            true);
        return new JdbcTemplateLockProvider(
            JdbcTemplateLockProvider.Configuration.builder()
                .withJdbcTemplate(new JdbcTemplate(source))
                .usingDbTime()
                .build());
    }

    static Optional<SimpleLock> lock(LockProvider provider, String name,
            long mostMs, long leastMs) {
        return provider.lock(new LockConfiguration(Instant.now(), name,
            Duration.ofMillis(mostMs), Duration.ofMillis(leastMs)));
    }

    private static long number(String[] words, int at) {
        return words.length > at ? Long.parseLong(words[at]) : 0;
    }

    private boolean once(String name, long mostMs, long leastMs) {
        Optional<SimpleLock> got = lock(provider, name, mostMs, leastMs);
        got.ifPresent(hold -> holds.put(name, hold));
        return got.isPresent();
    }

    private String unlock(String name) {
        SimpleLock hold = holds.remove(name);
        if (hold == null) return "not owner";
        hold.unlock();
        return "ok";
    }

    private boolean extend(String name, long mostMs) {
        Optional<SimpleLock> next =
            holds.get(name).extend(Duration.ofMillis(mostMs), Duration.ZERO);
        next.ifPresent(hold -> holds.put(name, hold));
        return next.isPresent();
    }

    private String answer(String[] words) throws Exception {
        String name = words[1];
        return switch (words[0]) {
            case "once" -> String.valueOf(
                once(name, number(words, 2), number(words, 3)));
            case "unlock" -> unlock(name);
            case "extend" -> String.valueOf(extend(name, number(words, 2)));
            case "mix" -> Mix.run(port, name, (int) number(words, 2),
                (int) number(words, 3), words[5]);
            default -> "error: no such command: " + words[0];
        };
    }

    private String answerSafely(String line) {
        try {
            String[] words = line.split(" ");
            return words.length < 2 ? "error: no name" : answer(words);
        } catch (Exception e) {
            return "error: " + e.toString().replace('\n', ' ');
        }
    }

    // Ends when its input does, without a word to the server: a test that
    // wants the locks released asks for it.
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(
            new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Peer peer = new Peer(args[0]);
        System.out.println("ready");
        for (String line; (line = in.readLine()) != null;) {
            System.out.println(peer.answerSafely(line));
        }
        Runtime.getRuntime().halt(0);
    }
}
