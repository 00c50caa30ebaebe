"""etcdctl.py PORT: a service on `etcdctl lock` that is told what to do, one
line at a time, and answers each with one line (the words are in ../README.md).

One rule: a hold is one etcdctl, and none outlives this program.
"""

import os
import select
import subprocess
import sys
import threading

# Where our side keeps its locks unless its URL says otherwise.
PREFIX = "holdfast/"
LONG_WAIT_S = 24 * 3600.0
COUNT = 'read -r n <"$1" && echo $((n + 1)) >"$1"'

holds = {}


def etcdctl(*words, **options):
    return subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "etcdctl",
         "--endpoints=127.0.0.1:" + sys.argv[1], *words], **options)


def start(name, lease_ms):
    return etcdctl("lock", "--ttl=%d" % (lease_ms // 1000), PREFIX + name,
                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                   stderr=subprocess.DEVNULL)


# It gives back what it has, and its place in the queue; of which it says that
# it was cancelled.
def end(process):
    process.terminate()
    process.wait()
    process.stdout.close()


# Its first line is its key, and comes when it has the lock.
def acquire(name, wait_s, lease_ms):
    process = start(name, lease_ms)
    ready, _, _ = select.select([process.stdout], [], [], wait_s)
    if ready and process.stdout.readline():
        holds[name] = process
        return True
    end(process)
    return False


def unlock(name):
    if name not in holds:
        return "not owner"
    end(holds.pop(name))
    return "ok"


def work(name, rounds, file, failures):
    for _ in range(rounds):
        process = etcdctl("lock", PREFIX + name, "--", "sh", "-c", COUNT, "sh",
                          file,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        if process.wait() != 0:
            failures.append("etcdctl ended with %d" % process.returncode)
            return


def mix(name, workers, rounds, file):
    failures = []
    threads = [threading.Thread(target=work,
                                args=(name, rounds, file, failures))
               for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return "error: " + failures[0] if failures else "exact"


def answer(words):
    name = words[1]
    if words[0] == "lock":
        taken = acquire(name, LONG_WAIT_S, int(words[2]))
        return "ok" if taken else "error: etcdctl has ended"
    if words[0] == "try":
        # It cannot look without queueing: give it time to be the first.
        wait_s = max(int(words[2]), 1000) / 1000
        return "true" if acquire(name, wait_s, int(words[3])) else "false"
    if words[0] == "unlock":
        return unlock(name)
    if words[0] == "mix":
        return mix(name, int(words[2]), int(words[3]), words[5])
    return "error: no such command: " + words[0]


def main():
    os.environ["ETCDCTL_API"] = "3"
    print("ready", flush=True)
    for line in sys.stdin:
        try:
            print(answer(line.split()), flush=True)
        except (OSError, ValueError, IndexError) as error:
            print("error: %s" % error, flush=True)


main()
