// RwMix.java: reading and writing against everybody else on one name.  One rule:
// a counter is written in two steps and read twice, so that only the lock can
// keep it right.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.redisson.api.RBucket;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.LongCodec;

final class RwMix {
    private final RReadWriteLock lock;
    private final RBucket<Long> counter;

    private RwMix(RedissonClient client, String name) {
        lock = client.getReadWriteLock(name);
        counter = client.getBucket("counter", LongCodec.INSTANCE);
    }

    private long value() {
        Long n = counter.get();
        return n == null ? 0 : n;
    }

    private void write() {
        RLock side = lock.writeLock();
        side.lock();
        try {
            long n = value();
            Thread.yield();
            counter.set(n + 1);
        } finally {
            side.unlock();
        }
    }

    private void read() {
        RLock side = lock.readLock();
        side.lock();
        try {
            long before = value();
            Thread.yield();
            long after = value();
            if (before != after) {
                throw new IllegalStateException(
                    "written while it was read: " + before + ", " + after);
            }
        } finally {
            side.unlock();
        }
    }

    private Void rounds(int rounds) {
        for (int i = 0; i < rounds; i++) {
            if (i % 2 == 0) {
                write();
            } else {
                read();
            }
        }
        return null;
    }

    static String run(RedissonClient client, String name, int threads,
            int rounds) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        List<Future<Void>> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            RwMix mix = new RwMix(client, name);
            all.add(pool.submit(() -> mix.rounds(rounds)));
        }
        for (Future<Void> one : all) one.get();
        pool.shutdown();
        return "exact";
    }
}
