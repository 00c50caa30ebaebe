// Mix.java: locking again and again against everybody else on one name.  One
// rule: the counter, a number in a file, is read and written in two steps, so
// that only the lock can keep it right.
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

final class Mix {
    private static final long LEASE_MS = 60000;

    private Mix() {}

    private static void count(Path file) throws Exception {
        long n = Long.parseLong(Files.readString(file).trim());
        Thread.yield();
        Files.writeString(file, (n + 1) + "\n");
    }

    private static SimpleLock lock(LockProvider provider, String name)
            throws InterruptedException {
        Optional<SimpleLock> got = Optional.empty();
        while (got.isEmpty()) {
            got = Peer.lock(provider, name, LEASE_MS, 0);
            if (got.isEmpty()) Thread.sleep(1);
        }
        return got.get();
    }

    private static Void work(String port, String name, int rounds, Path file)
            throws Exception {
        LockProvider provider = Peer.provider(port);
        for (int i = 0; i < rounds; i++) {
            SimpleLock hold = lock(provider, name);
            try {
                count(file);
            } finally { // a failure must not make the others wait for ever
                hold.unlock();
            }
        }
        return null;
    }

    static String run(String port, String name, int threads, int rounds,
            String file) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        List<Future<Void>> parts = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            parts.add(pool.submit(
                () -> work(port, name, rounds, Path.of(file))));
        }
        for (Future<Void> part : parts) part.get();
        pool.shutdown();
        return "exact";
    }
}
