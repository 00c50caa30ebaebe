// Latch.java: Redisson's count-down latch.  One rule: each word is one call.
//
//   latch.set NAME COUNT   true | false
//   latch.down NAME        ok
//   latch.count NAME       how many are left
//   latch.wait NAME MS     true | false
//   latch.delete NAME      true | false
import java.util.concurrent.TimeUnit;
import org.redisson.api.RCountDownLatch;

final class Latch {
    private Latch() {}

    private static String down(RCountDownLatch latch) {
        latch.countDown();
        return "ok";
    }

    static String answer(RCountDownLatch latch, String[] words)
            throws InterruptedException {
        long number = words.length > 2 ? Long.parseLong(words[2]) : 0;
        return switch (words[0]) {
            case "latch.set" -> String.valueOf(latch.trySetCount(number));
            case "latch.down" -> down(latch);
            case "latch.count" -> String.valueOf(latch.getCount());
            case "latch.wait" -> String.valueOf(
                latch.await(number, TimeUnit.MILLISECONDS));
            case "latch.delete" -> String.valueOf(latch.delete());
            default -> "error: no such command: " + words[0];
        };
    }
}
