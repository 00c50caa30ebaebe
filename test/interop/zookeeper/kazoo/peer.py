"""peer.py: a Python service on kazoo's Lock that is told what to do, one line at
a time, and answers each with one line (the words are in ../../README.md).

One rule: a hold has a session of its own, as two programs have; its time-out is
the lease.
"""
import sys

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout

ROOT = "/locks/"  # the chroot of our side's URL


class Peer:
    def __init__(self, port):
        self.port = port
        self.holds = {}

    def acquire(self, name, wait_ms, lease_ms):
        session = KazooClient("127.0.0.1:" + self.port, lease_ms / 1000)
        session.start()
        lock = session.Lock(ROOT + name, "python")
        try:
            wait_s = None if wait_ms is None else wait_ms / 1000
            if lock.acquire(timeout=wait_s):
                self.holds[name] = (session, lock)
                return True
        except LockTimeout:
            pass
        session.stop()
        return False

    def unlock(self, name):
        if name not in self.holds:
            return "not owner"
        session, lock = self.holds.pop(name)
        lock.release()
        session.stop()
        return "ok"

    def answer(self, verb, name, *numbers):
        if verb == "lock":
            self.acquire(name, None, *numbers)
            return "ok"
        if verb == "try":
            return "true" if self.acquire(name, *numbers) else "false"
        if verb == "unlock":
            return self.unlock(name)
        return "error: no such command: " + verb

    def answer_safely(self, line):
        try:
            verb, name, *numbers = line.split()
            return self.answer(verb, name, *map(int, numbers))
        except Exception as error:  # whatever it is, the test must see it
            return "error: " + repr(error).replace("\n", " ")


def main():
    peer = Peer(sys.argv[1])
    print("ready", flush=True)
    for line in sys.stdin:
        print(peer.answer_safely(line), flush=True)


main()
