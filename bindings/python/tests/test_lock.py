"""Locks, holds and semaphores, for threads."""
import datetime
import gc
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import holdfast


def elsewhere(fn):
    """fn() on a thread of its own, which is another holder."""
    out = []
    thread = threading.Thread(target=lambda: out.append(fn()))
    thread.start()
    thread.join()
    return out[0]


def until(cond):
    for _ in range(3000):
        if cond():
            return True
        time.sleep(0.02)
    return cond()


def breakable(client):
    """Can a holder that runs have its lock taken away?"""
    caps = client.caps
    return holdfast.Cap.BREAK in caps and holdfast.Cap.KERNEL not in caps


def test_a_with_block_holds_the_lock(client, name):
    lock = client.lock(name)
    with lock as hold:
        assert hold.name == name
        assert hold.fence > 0
        assert hold.valid > 0
        assert hold.state is holdfast.State.HELD
        assert elsewhere(lock.try_acquire) is None
        assert lock.inspect().locked
    assert hold.state is holdfast.State.NONE
    assert not lock.inspect().locked
    with lock as again:
        assert again.fence > hold.fence


def test_a_thread_enters_its_lock_again(client, name):
    lock = client.lock(name)
    with lock as outer, lock as inner:
        assert inner.fence == outer.fence
        assert outer.count == 2
    assert elsewhere(lambda: lock.acquire(0).release()) is None


def test_a_taken_lock_raises_with_its_name(client, name):
    lock = client.lock(name)
    with lock:

        def fail(wait, kind):
            with pytest.raises(kind, match=f"^{name}: ") as caught:
                lock.acquire(wait)
            return caught.value.status

        assert elsewhere(lambda: fail(0, holdfast.Taken)) == -1
        short = datetime.timedelta(milliseconds=1)
        assert elsewhere(lambda: fail(short, TimeoutError)) == -2


def test_a_release_frees_what_has_no_with(client, name):
    hold = client.lock(name).acquire(60, lease=45)
    assert hold.lease == 45
    hold.extend()
    hold.release()
    with pytest.raises(holdfast.Invalid):
        hold.release()


def test_a_loss_is_told_and_raised_at_the_end(client, name):
    if not breakable(client):
        pytest.skip("a holder that runs keeps its lock on this store")
    lock = client.lock(name)
    events = []
    with pytest.raises(holdfast.HoldfastError) as caught:
        with lock.acquire(lease=0.6) as hold:
            hold.on_state(events.append)
            assert lock.break_it()
            assert until(lambda: hold.state is holdfast.State.LOST)
            assert hold.why
    assert isinstance(caught.value, (holdfast.Lost, holdfast.Expired))
    assert until(lambda: events)
    assert [e.name for e in events if e.state is holdfast.State.LOST] == [name]


def test_the_client_is_told_of_losses_too(url, name):
    events = []
    with holdfast.Client(url, on_state=events.append) as client:
        if not breakable(client):
            pytest.skip("a holder that runs keeps its lock on this store")
        lock = client.lock(name)
        lock.acquire(lease=0.6)
        assert lock.break_it()
        assert until(
            lambda: any(e.state is holdfast.State.LOST for e in events)
        )


def test_an_exception_of_the_block_goes_first(client, name):
    if not breakable(client):
        pytest.skip("a holder that runs keeps its lock on this store")
    lock = client.lock(name)
    with pytest.raises(KeyError):
        with lock:
            lock.break_it()
            raise KeyError("the block's own")


def test_readers_share_and_exclude_a_writer(client, name):
    if not client.can(holdfast.Cap.RW):
        pytest.skip("no read/write locks on this store")
    read, write = client.read_lock(name), client.write_lock(name)
    with read:
        assert elsewhere(lambda: read.acquire(0).release()) is None
        assert elsewhere(write.try_acquire) is None
    with write as hold:
        assert hold.fence > 0
        assert elsewhere(read.try_acquire) is None


def test_a_client_counts_what_it_does(client, name):
    lock = client.lock(name)
    with lock:
        assert elsewhere(lock.try_acquire) is None
        stats = client.stats()
    assert (stats["granted"], stats["taken"], stats["held"]) == (1, 1, 1)
    assert sum(stats["wait_bins"]) == 1


def test_a_ticket_goes_to_another_client(url, client, name):
    if not client.can(holdfast.Cap.DETACHED):
        pytest.skip("no tickets on this store")
    ticket = client.lock(name).acquire(detached=True, lease=60).ticket()
    other = client if url.startswith("memory") else holdfast.Client(url)
    other.lock(name).attach(ticket).release()
    with pytest.raises(ValueError):
        client.lock(name).attach("no ticket")


def test_a_semaphore_lets_in_as_many_as_it_has(client, name):
    two = client.semaphore(name, 2)
    with two.acquire() as first, two.acquire():
        assert first.count == 1
        assert two.try_acquire() is None
        assert two.available() == 0
    with two.acquire(60, permits=2) as both:
        assert both.count == 2


def test_a_name_with_a_nul_is_refused(client):
    with pytest.raises(holdfast.Invalid, match="NUL"):
        client.lock("a\0b")
    with pytest.raises(ValueError):
        client.lock("")
    with pytest.raises(holdfast.Invalid):
        holdfast.Client("nowhere:")


def test_a_closed_client_is_closed_for_all(url, name):
    client = holdfast.Client(url)
    lock = client.lock(name)
    hold = lock.acquire()
    client.close()
    client.close()
    with pytest.raises(holdfast.Closed):
        lock.acquire()
    assert hold.state is holdfast.State.NONE
    del lock, hold, client
    gc.collect()


def test_a_lock_keeps_its_client_open(url, name):
    lock = holdfast.Client(url).lock(name)
    gc.collect()
    with lock as hold:
        assert hold.fence > 0


def test_ctrl_c_ends_a_wait(client, name):
    lock = client.lock(name)
    held, done = threading.Event(), threading.Event()

    def hold_it():
        with lock:
            held.set()
            done.wait()

    holder = threading.Thread(target=hold_it)
    holder.start()
    held.wait()
    main = threading.main_thread().ident
    kill = threading.Timer(0.1, signal.pthread_kill, (main, signal.SIGINT))
    kill.start()
    with pytest.raises(KeyboardInterrupt):
        lock.acquire()
    kill.join()
    done.set()
    holder.join()
    lock.acquire(60).release()


def test_a_missing_library_is_a_sentence():
    env = dict(os.environ, HOLDFAST_LIBRARY="/nowhere/libholdfast.so.0")
    code = (
        "import holdfast\n"
        "try: holdfast.Client()\n"
        "except holdfast.LibraryMissing as e: print(e)\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True
    )
    assert out.stdout.startswith(
        "holdfast: libholdfast.so.0: not found: install libholdfast"
    )
