"""Latches, barriers, elections and values, for threads."""
import threading

import pytest

import holdfast


def needs(client, caps):
    if not client.can(caps):
        pytest.skip("not on this store")


def test_a_latch_opens_at_zero(client, name):
    needs(client, holdfast.Cap.TALLY)
    latch = client.latch(name)
    latch.wait()
    latch.set(2)
    with pytest.raises(holdfast.Taken):
        latch.set(2)
    assert latch.down() == 1
    assert latch.count() == 1
    with pytest.raises(holdfast.Taken):
        latch.wait(0)
    with pytest.raises(TimeoutError):
        latch.wait(0.001)
    thread = threading.Thread(target=latch.down)
    thread.start()
    latch.wait(60)
    thread.join()
    latch.set(1)
    assert latch.delete()
    assert not latch.delete()


def test_a_barrier_lets_all_through_together(client, name):
    needs(client, holdfast.Cap.TALLY)
    barrier = client.barrier(name, 2)
    passed = []
    thread = threading.Thread(target=lambda: passed.append(barrier.wait()))
    thread.start()
    passed.append(barrier.wait())
    thread.join()
    assert passed[0].generation == passed[1].generation
    assert sorted(p.index for p in passed) == [0, 1]


def test_an_election_shows_the_leader_and_its_value(client, name):
    needs(client, holdfast.Cap.VALUE | holdfast.Cap.FENCE)
    two = client.election(name)
    assert two.look() is None
    with client.election(name, lease=60) as one:
        one.campaign(b"first")
        assert one.state is holdfast.State.HELD
        with pytest.raises(holdfast.Taken):
            two.campaign(wait=0)
        leader = two.look()
        assert leader.value == b"first"
        assert leader.fence == one.fence
        assert not leader.is_me and one.look().is_me
        one.publish(b"second")
        assert two.look().value == b"second"
    two.campaign(wait=60)
    two.resign()
    with pytest.raises(holdfast.NotOwner):
        two.resign()


def test_a_value_is_written_only_if_it_has_not_changed(client, name):
    needs(client, holdfast.Cap.VALUE)
    value = client.value(name)
    assert value.read() == (None, 0)
    first = value.write(b"one", 0)
    with pytest.raises(holdfast.Changed):
        value.write(b"two", 0)
    assert value.read() == (b"one", first)
    assert value.update(lambda now: now + b"!") == b"one!"
    value.delete(value.ANY)
    assert value.read().data is None


def test_an_update_tries_again_and_gives_up(client, name):
    needs(client, holdfast.Cap.VALUE)
    value = client.value(name)
    calls = []

    def overtaken(now):
        calls.append(now)
        if len(calls) < 3:
            value.write(b"another's", value.ANY)
        return b"mine"

    assert value.update(overtaken) == b"mine"
    assert len(calls) == 3
    calls.clear()
    with pytest.raises(holdfast.Changed):
        value.update(overtaken, tries=2)
