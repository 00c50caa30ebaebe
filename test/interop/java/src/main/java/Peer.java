// Peer.java: a Java service that is told what to do, one line at a time, and
// answers each with one line.  One rule: all commands run on the main thread,
// so that one process is one owner; only `mix` starts threads of its own.
//
//   lock NAME [LEASE_MS]         ok
//   try NAME WAIT_MS [LEASE_MS]  true | false
//   unlock NAME                  ok | not owner
//   force NAME                   true | false
//   islocked NAME                true | false
//   count NAME                   how often this thread holds it
//   ttl NAME                     milliseconds, -2 no lock
//   fencedlock NAME [LEASE_MS]   the token
//   fencedtry NAME [WAIT_MS [LEASE_MS]]  the token | none
//   fencedunlock NAME            ok | not owner
//   token NAME                   the last token given
//   mix NAME THREADS ROUNDS SEED exact | what was wrong (see Mix.java)
//   rwmix NAME THREADS ROUNDS    exact | what was wrong (see RwMix.java)
//   latch.WORD NAME [NUMBER]     see Latch.java
//
// `fair.lock` and so on do the same with another of Redisson's locks: fair,
// spin, fenced, nonreentrant, read, write, group (of one value).  Semaphores:
// Permits.java.  With the word "cluster" behind its arguments the port is that
// of one node of a cluster.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

public final class Peer {
    private static final long WATCHDOG = -1; // no lease: keep it alive

    private final RedissonClient client;

    private Peer(RedissonClient client) {
        this.client = client;
    }

    private static RedissonClient connect(String[] args) {
        Config config = new Config();
        String address = "redis://127.0.0.1:" + args[0];
        config.setLockWatchdogTimeout(Long.parseLong(args[1]));
        if (args.length > 2 && args[2].equals("cluster")) {
            config.useClusterServers()
                .addNodeAddress(address)
                .setMasterConnectionMinimumIdleSize(1)
                .setMasterConnectionPoolSize(4);
        } else {
            config.useSingleServer()
                .setAddress(address)
                .setConnectionMinimumIdleSize(2)
                .setConnectionPoolSize(8);
        }
        return Redisson.create(config);
    }

    private static long number(String[] words, int at, long otherwise) {
        return words.length > at ? Long.parseLong(words[at]) : otherwise;
    }

    private static String lock(RLock lock, long leaseMs) {
        lock.lock(leaseMs, TimeUnit.MILLISECONDS);
        return "ok";
    }

    private static boolean tryLock(RLock lock, long waitMs, long leaseMs)
            throws InterruptedException {
        return lock.tryLock(waitMs, leaseMs, TimeUnit.MILLISECONDS);
    }

    private static String unlock(RLock lock) {
        try {
            lock.unlock();
            return "ok";
        } catch (IllegalMonitorStateException e) {
            return "not owner";
        }
    }

    private static Long fencedLock(RFencedLock lock, String[] words) {
        return words.length < 3 ? lock.lockAndGetToken()
            : lock.lockAndGetToken(number(words, 2, 0), TimeUnit.MILLISECONDS);
    }

    private static String fencedTry(RFencedLock lock, String[] words) {
        long waitMs = number(words, 2, 0);
        Long token = switch (words.length) {
            case 2 -> lock.tryLockAndGetToken();
            case 3 -> lock.tryLockAndGetToken(waitMs, TimeUnit.MILLISECONDS);
            default -> lock.tryLockAndGetToken(waitMs, number(words, 3, 0),
                TimeUnit.MILLISECONDS);
        };
        return token == null ? "none" : token.toString();
    }

    private String mix(String name, String[] words) throws Exception {
        return Mix.run(client, name, (int) number(words, 2, 1),
            (int) number(words, 3, 1), number(words, 4, 1));
    }

    private RLock lockOf(String kind, String name) {
        return switch (kind) {
            case "fair" -> client.getFairLock(name);
            case "spin" -> client.getSpinLock(name);
            case "fenced" -> client.getFencedLock(name);
            case "nonreentrant" -> client.getNonReentrantLock(name);
            case "group" -> client.getMultiLock(name, List.of("value"));
            case "read" -> client.getReadWriteLock(name).readLock();
            case "write" -> client.getReadWriteLock(name).writeLock();
            default -> throw new IllegalArgumentException(kind);
        };
    }

    private String answer(String[] words) throws Exception {
        if (Permits.knows(words[0])) return Permits.answer(client, words);
        String name = words[1];
        if (words[0].startsWith("latch.")) {
            return Latch.answer(client.getCountDownLatch(name), words);
        }
        int dot = words[0].indexOf('.');
        String verb = words[0].substring(dot + 1);
        RLock lock = dot < 0 ? client.getLock(name)
            : lockOf(words[0].substring(0, dot), name);
        return switch (verb) {
            case "lock" -> lock(lock, number(words, 2, WATCHDOG));
            case "try" -> String.valueOf(tryLock(lock, number(words, 2, 0),
                number(words, 3, WATCHDOG)));
            case "unlock" -> unlock(lock);
            case "force" -> String.valueOf(lock.forceUnlock());
            case "islocked" -> String.valueOf(lock.isLocked());
            case "count" -> String.valueOf(lock.getHoldCount());
            case "ttl" -> String.valueOf(lock.remainTimeToLive());
            case "fencedlock" -> String.valueOf(
                fencedLock(client.getFencedLock(name), words));
            case "fencedtry" -> fencedTry(client.getFencedLock(name), words);
            case "fencedunlock" -> unlock(client.getFencedLock(name));
            case "token" -> String.valueOf(
                client.getFencedLock(name).getToken());
            case "mix" -> mix(name, words);
            case "rwmix" -> RwMix.run(client, name, (int) number(words, 2, 1),
                (int) number(words, 3, 1));
            default -> "error: no such command: " + verb;
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
        Peer peer = new Peer(connect(args));
        System.out.println("ready");
        for (String line; (line = in.readLine()) != null;) {
            System.out.println(peer.answerSafely(line));
        }
        System.exit(0);
    }
}
