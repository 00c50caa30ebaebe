// Leader.java: Curator's two ways to elect a leader.  One rule: a leader leads
// until it is told to resign.
//
//   lead.selector NAME LEASE_MS  ok, once it leads
//   lead.latch NAME LEASE_MS     ok, once it leads
//   lead.resign NAME             ok | not leader
//   lead.leader NAME             the id of the leader, by a LeaderSelector
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;

final class Leader {
    private static final String ID = "java-candidate";
    private static final int SESSION_MS = 60000;

    private interface Term {
        void end() throws Exception;
    }

    private final Peer peer;
    private final Map<String, Term> terms = new HashMap<>();

    Leader(Peer peer) {
        this.peer = peer;
    }

    // The listener leads until `over`.
    private static final class Listener extends LeaderSelectorListenerAdapter {
        private final CountDownLatch leads = new CountDownLatch(1);
        private final CountDownLatch over = new CountDownLatch(1);

        @Override
        public void takeLeadership(CuratorFramework client)
                throws InterruptedException {
            leads.countDown();
            over.await();
        }
    }

    private String select(String name, int leaseMs) throws Exception {
        CuratorFramework session = peer.connect(leaseMs);
        Listener listener = new Listener();
        LeaderSelector selector =
            new LeaderSelector(session, Peer.path(name), listener);
        selector.setId(ID);
        selector.start();
        listener.leads.await();
        terms.put(name, () -> {
            listener.over.countDown();
            selector.close();
            session.close();
        });
        return "ok";
    }

    private String latch(String name, int leaseMs) throws Exception {
        CuratorFramework session = peer.connect(leaseMs);
        LeaderLatch latch = new LeaderLatch(session, Peer.path(name), ID);
        latch.start();
        latch.await();
        terms.put(name, () -> {
            latch.close();
            session.close();
        });
        return "ok";
    }

    private String resign(String name) throws Exception {
        Term term = terms.remove(name);
        if (term == null) return "not leader";
        term.end();
        return "ok";
    }

    private String leader(String name) throws Exception {
        CuratorFramework session = peer.connect(SESSION_MS);
        try {
            return new LeaderSelector(session, Peer.path(name), new Listener())
                .getLeader().getId();
        } finally {
            session.close();
        }
    }

    String answer(String[] words) throws Exception {
        return switch (words[0]) {
            case "lead.selector" -> select(words[1],
                Integer.parseInt(words[2]));
            case "lead.latch" -> latch(words[1], Integer.parseInt(words[2]));
            case "lead.resign" -> resign(words[1]);
            case "lead.leader" -> leader(words[1]);
            default -> "error: no such command: " + words[0];
        };
    }
}
