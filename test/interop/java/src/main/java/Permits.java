// Permits.java: Redisson's two semaphores, told what to do as Peer.java is.  One
// rule: a permit that was got is given back only by its id.
//
//   permit.tryset NAME N                true | false
//   permit.set NAME N                   ok
//   permit.add NAME N                   ok
//   permit.take NAME N WAIT_MS LEASE_MS ids, with commas between them | none
//   permit.give NAME IDS                how many were given back
//   permit.available NAME               and permits, acquired: numbers
//   permit.lease NAME ID                milliseconds left
//   permit.mix NAME THREADS ROUNDS      exact | what was wrong
//   count.tryset NAME N                 true | false
//   count.add NAME N                    ok
//   count.take NAME N WAIT_MS           true | false
//   count.give NAME N                   ok
//   count.available NAME                a number
//   count.drain NAME                    how many there were
//   count.mix NAME THREADS ROUNDS       exact | what was wrong
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RBucket;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.LongCodec;

final class Permits {
    private static final long LEASE_MS = 60000;

    private interface Round {
        void run() throws InterruptedException;
    }

    private Permits() {
    }

    private static long at(String[] words, int i) {
        return Long.parseLong(words[i]);
    }

    private static String take(RPermitExpirableSemaphore s, String[] words)
            throws InterruptedException {
        List<String> ids = s.tryAcquire((int) at(words, 2), at(words, 3),
            at(words, 4), TimeUnit.MILLISECONDS);
        return ids == null || ids.isEmpty() ? "none" : String.join(",", ids);
    }

    private static String permit(RPermitExpirableSemaphore s, String verb,
            String[] words) throws InterruptedException {
        switch (verb) {
            case "tryset":
                return String.valueOf(s.trySetPermits((int) at(words, 2)));
            case "set":
                s.setPermits((int) at(words, 2));
                return "ok";
            case "add":
                s.addPermits((int) at(words, 2));
                return "ok";
            case "take": return take(s, words);
            case "give": return String.valueOf(
                s.tryRelease(Arrays.asList(words[2].split(","))));
            case "available": return String.valueOf(s.availablePermits());
            case "permits": return String.valueOf(s.getPermits());
            case "acquired": return String.valueOf(s.acquiredPermits());
            case "lease": return String.valueOf(s.getLeaseTime(words[2]));
            default: return "error: no such command: " + verb;
        }
    }

    private static String count(RSemaphore s, String verb, String[] words)
            throws InterruptedException {
        switch (verb) {
            case "tryset":
                return String.valueOf(s.trySetPermits((int) at(words, 2)));
            case "add":
                s.addPermits((int) at(words, 2));
                return "ok";
            case "take": return String.valueOf(s.tryAcquire((int) at(words, 2),
                Duration.ofMillis(at(words, 3))));
            case "give":
                s.release((int) at(words, 2));
                return "ok";
            case "available": return String.valueOf(s.availablePermits());
            case "drain": return String.valueOf(s.drainPermits());
            default: return "error: no such command: " + verb;
        }
    }

    // Read and written in two steps: only a semaphore of one keeps it right.
    private static void guarded(RedissonClient client) {
        RBucket<Long> counter =
            client.getBucket("counter", LongCodec.INSTANCE);
        Long n = counter.get();
        counter.set((n == null ? 0 : n) + 1);
    }

    private static Round permitRound(RedissonClient client, String name) {
        RPermitExpirableSemaphore s = client.getPermitExpirableSemaphore(name);
        return () -> {
            String id = s.acquire(LEASE_MS, TimeUnit.MILLISECONDS);
            try {
                guarded(client);
            } finally {
                s.release(id);
            }
        };
    }

    private static Round countRound(RedissonClient client, String name) {
        RSemaphore s = client.getSemaphore(name);
        return () -> {
            s.acquire();
            try {
                guarded(client);
            } finally {
                s.release();
            }
        };
    }

    private static String mix(Round round, int threads, int rounds)
            throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        List<Future<Void>> parts = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            parts.add(pool.submit(() -> {
                for (int k = 0; k < rounds; k++) round.run();
                return null;
            }));
        }
        for (Future<Void> part : parts) part.get();
        pool.shutdown();
        return "exact";
    }

    static boolean knows(String word) {
        return word.startsWith("permit.") || word.startsWith("count.");
    }

    static String answer(RedissonClient client, String[] words)
            throws Exception {
        boolean isPermit = words[0].startsWith("permit.");
        String verb = words[0].substring(words[0].indexOf('.') + 1);
        String name = words[1];
        if (verb.equals("mix")) {
            Round round = isPermit ? permitRound(client, name)
                : countRound(client, name);
            return mix(round, (int) at(words, 2), (int) at(words, 3));
        }
        return isPermit
            ? permit(client.getPermitExpirableSemaphore(name), verb, words)
            : count(client.getSemaphore(name), verb, words);
    }
}
