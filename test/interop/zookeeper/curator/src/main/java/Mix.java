// Mix.java: locking again and again against everybody else on one name.  One
// rule: the counter, a number in a file, is read and written in two steps, so
// that only the lock can keep it right.
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

final class Mix {
    static final int SESSION_MS = 60000;

    private Mix() {}

    private static void count(Path file) throws Exception {
        long n = Long.parseLong(Files.readString(file).trim());
        Thread.yield();
        Files.writeString(file, (n + 1) + "\n");
    }

    // A hold is a thread's, so that all threads may share the object.
    private static Void work(InterProcessMutex mutex, int rounds, Path file)
            throws Exception {
        for (int i = 0; i < rounds; i++) {
            boolean again = i % 5 == 0;
            mutex.acquire();
            if (again) mutex.acquire();
            try {
                count(file);
            } finally { // a failure must not make the others wait for ever
                if (again) mutex.release();
                mutex.release();
            }
        }
        return null;
    }

    static String run(CuratorFramework client, String path, int threads,
            int rounds, String file) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        List<Future<Void>> parts = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            parts.add(pool.submit(() -> work(mutex, rounds, Path.of(file))));
        }
        for (Future<Void> part : parts) part.get();
        pool.shutdown();
        return "exact";
    }
}
