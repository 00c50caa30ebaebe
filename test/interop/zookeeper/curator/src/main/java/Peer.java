// Peer.java: a Java service on Curator that is told what to do, one line at a
// time, and answers each with one line.  One rule: a hold has a session of its
// own, as two programs have; its time-out is the lease.
//
//   lock NAME LEASE_MS           ok
//   try NAME WAIT_MS LEASE_MS    true | false
//   unlock NAME                  ok | not owner
//   participants NAME            how many hold it or wait for it
//   mix NAME THREADS ROUNDS SEED FILE  exact (see Mix.java)
//   lead.WORD NAME [LEASE_MS]    see Leader.java
//
// All commands run on the main thread, which so is the owner of all holds; only
// `mix` starts threads.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryNTimes;

public final class Peer {
    // The chroot of our side's URL.
    private static final String ROOT = "/locks/";
    private static final int CONNECT_MS = 20000;
    private static final long NO_WAIT_LIMIT = -1;

    private record Hold(CuratorFramework session, InterProcessMutex mutex) {}

    private final String port;
    private final Map<String, Hold> holds = new HashMap<>();
    private final Leader leader = new Leader(this);

    private Peer(String port) {
        this.port = port;
    }

    static String path(String name) {
        return ROOT + name;
    }

    CuratorFramework connect(int sessionMs) throws InterruptedException {
        CuratorFramework client = CuratorFrameworkFactory.newClient(
            "127.0.0.1:" + port, sessionMs, CONNECT_MS,
            new RetryNTimes(10, 100));
        client.start();
        if (!client.blockUntilConnected(CONNECT_MS, TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException("no connection");
        }
        return client;
    }

    private boolean tryLock(String name, long waitMs, int leaseMs)
            throws Exception {
        CuratorFramework session = connect(leaseMs);
        InterProcessMutex mutex = new InterProcessMutex(session, path(name));
        boolean got = waitMs != NO_WAIT_LIMIT
            ? mutex.acquire(waitMs, TimeUnit.MILLISECONDS)
            : mutex.acquire(-1, null);
        if (got) {
            holds.put(name, new Hold(session, mutex));
        } else {
            session.close();
        }
        return got;
    }

    private String unlock(String name) throws Exception {
        Hold hold = holds.remove(name);
        if (hold == null) return "not owner";
        hold.mutex.release();
        hold.session.close();
        return "ok";
    }

    private int participants(String name) throws Exception {
        CuratorFramework session = connect(CONNECT_MS);
        try {
            return new InterProcessMutex(session, path(name))
                .getParticipantNodes().size();
        } finally {
            session.close();
        }
    }

    private String mix(String name, String[] words) throws Exception {
        CuratorFramework session = connect(Mix.SESSION_MS);
        try {
            return Mix.run(session, path(name), Integer.parseInt(words[2]),
                Integer.parseInt(words[3]), words[5]);
        } finally {
            session.close();
        }
    }

    private String answer(String[] words) throws Exception {
        String name = words[1];
        return switch (words[0]) {
            case "lock" -> tryLock(name, NO_WAIT_LIMIT,
                Integer.parseInt(words[2])) ? "ok" : "false";
            case "try" -> String.valueOf(tryLock(name,
                Long.parseLong(words[2]), Integer.parseInt(words[3])));
            case "unlock" -> unlock(name);
            case "participants" -> String.valueOf(participants(name));
            case "mix" -> mix(name, words);
            default -> leader.answer(words);
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
