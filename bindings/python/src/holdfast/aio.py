"""holdfast for asyncio: no thread, the client runs on the event loop.

    async with holdfast.aio.Client("redis://127.0.0.1") as client:
        async with client.lock("nightly") as hold:
            await write_with_token(hold.fence)

Each acquire is a holder of its own, for tasks share their thread: a lock that a
task holds it cannot enter again.  A task that is cancelled while it waits leaves
the queue, and gives back what it may just have got.
"""
from __future__ import annotations

import asyncio
import threading
from types import TracebackType
from typing import Any, Callable, Dict, List, Optional, Type

from . import _calls
from ._client import Base
from ._election import Election as _Election
from ._election import campaigning
from ._errors import HoldfastError, Taken
from ._hold import HoldBase
from ._library import Seconds, ffi, library, milliseconds
from ._lock import Lock as _Lock
from ._lock import Semaphore as _Semaphore
from ._lock import acquire_options
from ._meet import Barrier as _Barrier
from ._meet import Latch as _Latch
from ._meet import Passed, waiting

__all__ = ["Barrier", "Client", "Election", "Hold", "Latch", "Lock", "Semaphore"]

OWN_LOOP = 1  # HF_CLIENT_OWN_LOOP
Undo = Callable[[Any], None]


def _nothing(_got: Any) -> None:
    pass


def _release(raw: Any) -> None:
    """Release what a cancelled task has acquired, without waiting."""
    library().hf_hold_release_start(raw, ffi.NULL, ffi.NULL, ffi.NULL)


async def _run(
    client: Client,
    name: str,
    begin: _calls.Begin,
    undo: Undo = _nothing,
    *,
    can_cancel: bool = True,
) -> Any:
    """Run a call of C to its end on the loop."""
    loop = client.loop
    done: asyncio.Future[Any] = loop.create_future()
    token = _calls.token_open(client.raw) if can_cancel else ffi.NULL

    def free() -> None:
        client.free(library().hf_cancel_close, token)

    def settle(value: Any, why: Optional[HoldfastError]) -> None:
        loop.call_soon(free)  # when C has returned from the call
        if done.cancelled():
            if why is None:
                undo(value)
        elif why is None:
            done.set_result(value)
        else:
            done.set_exception(_calls.named(why, name))

    def ended(value: Any, why: Optional[HoldfastError]) -> None:
        if threading.get_ident() == client.thread:
            settle(value, why)
        else:  # while it is being closed
            loop.call_soon_threadsafe(settle, value, why)

    try:
        _calls.start(name, begin, token, ended)
    except BaseException:
        free()
        raise
    try:
        return await done
    except (asyncio.CancelledError, GeneratorExit):
        if done.done() and not done.cancelled():
            if done.exception() is None:  # it came at the same time
                undo(done.result())
            raise
        done.cancel()  # a coroutine that is closed has not done that
        if token != ffi.NULL:
            library().hf_cancel_fire(token)
        raise


class Hold(HoldBase):
    """A hold of a task; `async with` releases it, and raises if it was lost."""

    async def extend(self, lease: Seconds = 0) -> None:
        """Start the lease again; 0: with the same length."""
        raw, ms = self._raw, milliseconds(lease)
        await _run(
            self._owner,
            self.name,
            lambda user, _token, err: int(
                library().hf_hold_extend_start(
                    raw, ms, _calls.released, user, err
                )
            ),
            can_cancel=False,
        )

    async def release(self) -> None:
        """Release the hold.  It is gone afterwards, whatever this raises."""
        client: Client = self._owner
        raw = self.give_up()
        await _run(
            client,
            self.name,
            lambda user, _token, err: int(
                library().hf_hold_release_start(
                    raw, _calls.released, user, err
                )
            ),
            can_cancel=False,
        )

    async def __aenter__(self) -> Hold:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        _value: Optional[BaseException],
        _trace: Optional[TracebackType],
    ) -> None:
        if self._raw == ffi.NULL:
            return
        try:
            await self.release()
        except Exception:
            if kind is None:
                raise


async def _acquire(
    client: Client, name: str, start: Any, raw: Any, options: Any, ended: Any
) -> Hold:
    def begin(user: Any, token: Any, err: Any) -> int:
        options.cancel = token
        return int(start(raw, options, ended, user, err))

    return Hold(client, await _run(client, name, begin, _release))


class _Scoped:
    """`async with` of a lock or a semaphore, by several tasks at a time."""

    def __init__(self) -> None:
        self._holds: Dict[Any, List[Hold]] = {}

    async def acquire(self, wait: Optional[Seconds] = None) -> Hold:
        raise NotImplementedError

    async def try_acquire(self) -> Optional[Hold]:
        """Try once; None if another holder has it."""
        try:
            return await self.acquire(0)
        except Taken:
            return None

    async def __aenter__(self) -> Hold:
        hold = await self.acquire()
        self._holds.setdefault(asyncio.current_task(), []).append(hold)
        return hold

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        task = self._entered_by()
        hold = self._holds[task].pop()
        if not self._holds[task]:
            del self._holds[task]
        await hold.__aexit__(kind, value, trace)

    def _entered_by(self) -> Any:
        """The task whose block ends: this one, unless it is the loop's, which
        ends a generator that was left."""
        here = asyncio.current_task()
        if here in self._holds:
            return here
        for task in self._holds:
            if task is None or task.done() or len(self._holds) == 1:
                return task
        why = "entered by several other tasks" if self._holds else "not entered"
        raise RuntimeError(f"async with: {why}")


class Lock(_Scoped):
    def __init__(
        self, client: Client, name: str, *, kind: int, fair: bool
    ) -> None:
        super().__init__()
        self._client = client
        self._lock = _Lock(client, name, kind=kind, fair=fair)
        self.name = name

    async def acquire(
        self,
        wait: Optional[Seconds] = None,
        *,
        lease: Seconds = 0,
        renew: bool = True,
        feed: Seconds = 0,
        max_hold: Seconds = 0,
    ) -> Hold:
        """As holdfast.Lock.acquire()."""
        return await _acquire(
            self._client,
            self.name,
            library().hf_lock_acquire_start,
            self._lock.raw,
            acquire_options(
                wait, lease, renew=renew, feed=feed, max_hold=max_hold
            ),
            _calls.acquired,
        )


class Semaphore(_Scoped):
    def __init__(
        self, client: Client, name: str, permits: int, *, fair: bool
    ) -> None:
        super().__init__()
        self._client = client
        self._semaphore = _Semaphore(client, name, permits, fair=fair)
        self.name = name

    async def acquire(
        self,
        wait: Optional[Seconds] = None,
        *,
        permits: int = 1,
        lease: Seconds = 0,
    ) -> Hold:
        """As holdfast.Semaphore.acquire()."""
        return await _acquire(
            self._client,
            self.name,
            library().hf_semaphore_acquire_start,
            self._semaphore.raw,
            acquire_options(wait, lease, permits=permits),
            _calls.permitted,
        )


class Latch:
    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        self._latch = _Latch(client, name)
        self.name = name

    async def _ask(self, call: Callable[[Any, Any], int]) -> int:
        left: int = await _run(
            self._client,
            self.name,
            lambda user, _token, err: call(user, err),
            can_cancel=False,
        )
        return left

    async def set(self, count: int) -> None:
        raw = self._latch.raw
        await self._ask(
            lambda user, err: int(
                library().hf_latch_set_start(
                    raw, count, _calls.counted, user, err
                )
            )
        )

    async def down(self) -> int:
        """Count down by one; what is left."""
        raw = self._latch.raw
        return await self._ask(
            lambda user, err: int(
                library().hf_latch_down_start(raw, _calls.counted, user, err)
            )
        )

    async def wait(self, wait: Optional[Seconds] = None) -> None:
        start = library().hf_latch_wait_start
        await _run(
            self._client,
            self.name,
            waiting(wait, start, self._latch.raw, _calls.opened),
        )


class Barrier:
    def __init__(self, client: Client, name: str, parties: int) -> None:
        self._client = client
        self._barrier = _Barrier(client, name, parties)
        self.name = name

    async def wait(self, wait: Optional[Seconds] = None) -> Passed:
        start = library().hf_barrier_wait_start
        return Passed(
            *await _run(
                self._client,
                self.name,
                waiting(wait, start, self._barrier.raw, _calls.passed),
            )
        )


class Election:
    """One candidate; `async with` resigns at its end if it leads."""

    def __init__(
        self, client: Client, name: str, *, lease: Seconds, fair: bool
    ) -> None:
        self._client = client
        self._election = _Election(client, name, lease=lease, fair=fair)
        self.name = name

    async def campaign(
        self, value: Optional[bytes] = None, wait: Optional[Seconds] = None
    ) -> None:
        begin = campaigning(self._election.raw, wait, value)
        await _run(self._client, self.name, begin, self._give_up)

    def _give_up(self, _got: Any) -> None:
        library().hf_election_resign_start(
            self._election.raw, ffi.NULL, ffi.NULL, ffi.NULL
        )

    async def resign(self) -> None:
        raw = self._election.raw
        await _run(
            self._client,
            self.name,
            lambda user, _token, err: int(
                library().hf_election_resign_start(
                    raw, _calls.resigned, user, err
                )
            ),
            can_cancel=False,
        )

    @property
    def fence(self) -> int:
        return self._election.fence

    async def __aenter__(self) -> Election:
        return self

    async def __aexit__(
        self,
        _kind: Optional[Type[BaseException]],
        _value: Optional[BaseException],
        _trace: Optional[TracebackType],
    ) -> None:
        if self._election.state:
            await self.resign()


class Client(Base):
    """A client of one event loop: `async with`, within a coroutine."""

    _flags = OWN_LOOP

    def __init__(self, url: Optional[str] = None, **options: Any) -> None:
        self.loop = asyncio.get_running_loop()
        self.thread = threading.get_ident()
        super().__init__(url, **options)
        self._fd: int = library().hf_client_fd(self.raw)
        self.loop.add_reader(self._fd, self._process)

    def _process(self) -> None:
        library().hf_client_process(self.raw)

    def lock(self, name: str, *, fair: bool = False) -> Lock:
        return Lock(self, name, kind=0, fair=fair)

    def read_lock(self, name: str, *, fair: bool = False) -> Lock:
        return Lock(self, name, kind=1, fair=fair)

    def write_lock(self, name: str, *, fair: bool = False) -> Lock:
        return Lock(self, name, kind=2, fair=fair)

    def semaphore(
        self, name: str, permits: int = 0, *, fair: bool = False
    ) -> Semaphore:
        return Semaphore(self, name, permits, fair=fair)

    def latch(self, name: str) -> Latch:
        return Latch(self, name)

    def barrier(self, name: str, parties: int) -> Barrier:
        return Barrier(self, name, parties)

    def election(
        self, name: str, *, lease: Seconds = 0, fair: bool = False
    ) -> Election:
        return Election(self, name, lease=lease, fair=fair)

    async def close(self) -> None:
        """Release what is still held, and close."""
        if self._end.alive:
            self.loop.remove_reader(self._fd)
            await self.loop.run_in_executor(None, self._end)

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self,
        _kind: Optional[Type[BaseException]],
        _value: Optional[BaseException],
        _trace: Optional[TracebackType],
    ) -> None:
        await self.close()
