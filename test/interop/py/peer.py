"""peer.py: a Python service on redis-py's Lock that is told what to do, one
line at a time, and answers each with one line (the words are in ../README.md).

One rule: what the library says decides; nothing is asked of the server behind
its back, except the counter in `mix`.
"""
import random
import sys
import threading
import time

import redis
from redis.exceptions import LockError

RETRY_S = 0.005
MIX_LEASE_MS = 60000


class Peer:
    """The locks of one owner; a lock's token belongs to its object."""

    def __init__(self, client):
        self.client = client
        self.locks = {}

    def acquire(self, name, wait_ms, lease_ms):
        """A wait of None is for ever, of 0 one try."""
        lock = self.client.lock(
            name, timeout=lease_ms / 1000, sleep=RETRY_S, thread_local=False)
        wait_s = None if wait_ms is None else wait_ms / 1000
        got = lock.acquire(blocking=wait_ms != 0, blocking_timeout=wait_s)
        if got:
            self.locks[name] = lock
        return got

    def lock(self, name, lease_ms):
        self.acquire(name, None, lease_ms)
        return "ok"

    def unlock(self, name):
        try:
            self.locks.pop(name).release()
            return "ok"
        except (KeyError, LockError):
            return "not owner"

    def extend(self, name, lease_ms):
        try:
            self.locks[name].extend(lease_ms / 1000, replace_ttl=True)
            return "ok"
        except (KeyError, LockError):
            return "not owner"

    def is_locked(self, name):
        return self.client.lock(name).locked()

    def answer(self, verb, name, *numbers):
        if verb == "lock":
            return self.lock(name, *numbers)
        if verb == "try":
            return str(self.acquire(name, *numbers)).lower()
        if verb == "unlock":
            return self.unlock(name)
        if verb == "extend":
            return self.extend(name, *numbers)
        if verb == "islocked":
            return str(self.is_locked(name)).lower()
        if verb == "mix":
            return mix(self.client, name, *numbers)
        return f"error: no such command: {verb}"

    def answer_safely(self, line):
        try:
            verb, name, *numbers = line.split()
            return self.answer(verb, name, *map(int, numbers))
        except Exception as e:  # whatever it is, the test is to hear of it
            return f"error: {e!r}".replace("\n", " ")


class Mixer(Peer):
    """Random locking; only the lock can keep the counter right, which is read
    and written in two steps."""

    def __init__(self, client, name, seed):
        super().__init__(client)
        self.name = name
        self.random = random.Random(seed)

    def count(self):
        n = int(self.client.get("counter") or 0)
        if self.random.randrange(4) == 0:
            time.sleep(0)
        self.client.set("counter", n + 1)

    def acquire_somehow(self):
        if self.random.randrange(2) == 0:
            self.lock(self.name, MIX_LEASE_MS)
            return
        while not self.acquire(
                self.name, self.random.randrange(50), MIX_LEASE_MS):
            time.sleep(RETRY_S)

    def round(self):
        self.acquire_somehow()
        try:
            self.count()
            if self.random.randrange(5) == 0:
                self.expect_ok(self.extend(self.name, MIX_LEASE_MS))
        finally:  # a failure must not make the others wait for ever
            end = self.unlock(self.name)
        self.expect_ok(end)

    @staticmethod
    def expect_ok(text):
        if text != "ok":
            raise RuntimeError(text)

    def work(self, rounds, wrong):
        try:
            for _ in range(rounds):
                self.round()
        except Exception as e:
            wrong.append(repr(e))


def mix(client, name, workers, rounds, seed):
    wrong = []
    threads = [
        threading.Thread(
            target=Mixer(client, name, seed + i).work, args=(rounds, wrong))
        for i in range(workers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return "error: " + wrong[0] if wrong else "exact"


def main():
    """Ends when its input does, without a word to the server: a test that
    wants the locks released asks for it."""
    client = redis.Redis(host="127.0.0.1", port=int(sys.argv[1]))
    client.ping()
    peer = Peer(client)
    print("ready", flush=True)
    for line in sys.stdin:
        print(peer.answer_safely(line), flush=True)


main()
