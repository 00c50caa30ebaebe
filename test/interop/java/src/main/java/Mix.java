// Mix.java: random locking against everybody else on one name.  One rule: the
// counter is read and written in two steps, so that only the lock can keep it
// right; a token must be above all tokens seen before it.
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RBucket;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisTimeoutException;
import org.redisson.client.codec.LongCodec;

final class Mix {
    private static final long LEASE_MS = 60000;

    private final RLock plain;
    private final RFencedLock fenced;
    private final RBucket<Long> counter;
    private final RBucket<Long> token;
    private final Random random;

    private Mix(RedissonClient client, String name, long seed) {
        plain = client.getLock(name);
        fenced = client.getFencedLock(name);
        counter = client.getBucket("counter", LongCodec.INSTANCE);
        token = client.getBucket("token", LongCodec.INSTANCE);
        random = new Random(seed);
    }

    private static long orZero(Long n) {
        return n == null ? 0 : n;
    }

    private void count() {
        long n = orZero(counter.get());
        if (random.nextInt(4) == 0) Thread.yield();
        counter.set(n + 1);
    }

    // A plain hold has no token: 0.
    private void countWithToken(long mine) {
        if (mine != 0) {
            long last = orZero(token.get());
            if (mine <= last) {
                throw new IllegalStateException(
                    "token " + mine + " after " + last);
            }
            token.set(mine);
        }
        count();
    }

    // Redisson throws when such a short wait ends before it has subscribed.
    private boolean tryPlainly(long leaseMs) throws InterruptedException {
        try {
            return plain.tryLock(random.nextInt(50), leaseMs,
                TimeUnit.MILLISECONDS);
        } catch (RedisTimeoutException e) {
            return false;
        }
    }

    private Long tryForToken() {
        try {
            return fenced.tryLockAndGetToken(1 + random.nextInt(50),
                TimeUnit.MILLISECONDS);
        } catch (RedisTimeoutException e) {
            return null;
        }
    }

    private long acquirePatiently(long leaseMs) throws InterruptedException {
        while (!tryPlainly(leaseMs)) Thread.yield();
        return 0;
    }

    private long acquireToken() {
        Long mine = null;
        while (mine == null) mine = tryForToken();
        return mine;
    }

    private long acquirePlainly(int way) throws InterruptedException {
        switch (way) {
            case 0:
                plain.lock();
                return 0;
            case 1:
                plain.lock(LEASE_MS, TimeUnit.MILLISECONDS);
                return 0;
            case 2: return acquirePatiently(-1);
            default: return acquirePatiently(LEASE_MS);
        }
    }

    private void round() throws InterruptedException {
        boolean isFenced = random.nextInt(3) == 0;
        RLock held = isFenced ? fenced : plain;
        long mine = !isFenced ? acquirePlainly(random.nextInt(4))
            : random.nextBoolean() ? acquireToken() : fenced.lockAndGetToken();
        boolean again = random.nextInt(5) == 0;
        if (again) held.lock();
        try {
            countWithToken(mine);
        } finally { // a failure must not make the others wait for ever
            if (again) held.unlock();
            held.unlock();
        }
    }

    private Void work(int rounds) throws InterruptedException {
        for (int i = 0; i < rounds; i++) round();
        return null;
    }

    static String run(RedissonClient client, String name, int threads,
            int rounds, long seed) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        List<Future<Void>> parts = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Mix mix = new Mix(client, name, seed + i);
            parts.add(pool.submit(() -> mix.work(rounds)));
        }
        for (Future<Void> part : parts) part.get();
        pool.shutdown();
        return "exact";
    }
}
