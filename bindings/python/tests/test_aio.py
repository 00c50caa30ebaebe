"""The asyncio half: each test is a coroutine on a loop of its own."""
import asyncio

import pytest

import holdfast
from holdfast import aio


def run(url, test):
    async def main():
        async with aio.Client(url) as client:
            await test(client)

    asyncio.run(asyncio.wait_for(main(), 120))


def test_tasks_take_turns(url, name):
    fences, inside = [], []

    async def work(lock):
        async with lock as hold:
            inside.append(1)
            assert len(inside) == 1
            fences.append(hold.fence)
            await asyncio.sleep(0)
            inside.pop()

    async def test(client):
        lock = client.lock(name)
        await asyncio.gather(*(work(lock) for _ in range(8)))

    run(url, test)
    assert len(fences) == 8
    assert fences == sorted(set(fences))


def test_a_taken_lock_raises(url, name):
    async def test(client):
        lock = client.lock(name)
        async with lock:
            assert await lock.try_acquire() is None
            with pytest.raises(TimeoutError, match=f"^{name}: "):
                await lock.acquire(0.001)
        async with await lock.acquire(60, lease=45) as hold:
            assert hold.lease == 45
            await hold.extend()
        assert hold.state is holdfast.State.NONE

    run(url, test)


def test_a_cancelled_task_leaves_the_queue(url, name):
    async def test(client):
        lock = client.lock(name)
        async with lock:
            waiter = asyncio.create_task(lock.acquire())
            await asyncio.sleep(0.05)
            waiter.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiter
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(lock.acquire(), 0.01)
        async with await lock.acquire(60) as hold:
            assert hold.fence > 0

    run(url, test)


def test_a_call_that_is_closed_gives_back_what_it_gets(url, name):
    """As of a coroutine that nothing refers to any more."""

    async def test(client):
        lock = client.lock(name)
        async with lock:
            call = lock.acquire()
            call.send(None)
            call.close()
        async with await lock.acquire(60):
            pass

    run(url, test)


def test_a_generator_that_was_left_gives_back_its_lock(url, name):
    """The loop ends it, in a task of its own."""

    async def test(client):
        lock = client.lock(name)

        async def rows():
            async with lock:
                yield 1
                yield 2

        async def first():
            async for row in rows():
                return row

        assert await asyncio.create_task(first()) == 1
        async with await lock.acquire(60):
            pass

    run(url, test)


def test_another_task_may_leave_what_one_has_entered(url, name):
    async def test(client):
        lock = client.lock(name)
        await asyncio.create_task(lock.__aenter__())
        await lock.__aexit__(None, None, None)
        async with lock:
            pass
        with pytest.raises(RuntimeError, match="not entered"):
            await lock.__aexit__(None, None, None)

    run(url, test)


def test_readers_and_permits(url, name):
    async def test(client):
        two = client.semaphore(name + "-s", 2)
        async with two, two:
            assert await two.try_acquire() is None
        if not client.can(holdfast.Cap.RW):
            return
        read, write = client.read_lock(name), client.write_lock(name)
        async with read, read:
            assert await write.try_acquire() is None
        async with write:
            assert await read.try_acquire() is None

    run(url, test)


def test_latches_and_barriers(url, name):
    async def test(client):
        if not client.can(holdfast.Cap.TALLY):
            return
        latch = client.latch(name)
        await latch.set(2)
        waiter = asyncio.create_task(latch.wait(60))
        assert await latch.down() == 1
        assert await latch.down() == 0
        await waiter
        barrier = client.barrier(name + "-b", 2)
        one, two = await asyncio.gather(barrier.wait(60), barrier.wait(60))
        assert one.generation == two.generation
        assert {one.index, two.index} == {0, 1}

    run(url, test)


def test_an_election_passes_on(url, name):
    async def test(client):
        if not client.can(holdfast.Cap.VALUE):
            return
        first, second = client.election(name), client.election(name)
        async with first:
            await first.campaign(b"first")
            fence = first.fence
            with pytest.raises(holdfast.Taken):
                await second.campaign(wait=0)
            waiter = asyncio.create_task(second.campaign(wait=60))
        await waiter
        assert second.fence > fence
        await second.resign()

    run(url, test)


def test_a_close_ends_what_still_waits(url, name):
    async def test(client):
        lock = client.lock(name)
        await lock.acquire()
        waiter = asyncio.create_task(lock.acquire())
        await asyncio.sleep(0.05)
        await client.close()
        with pytest.raises(holdfast.Closed):
            await waiter

    run(url, test)
