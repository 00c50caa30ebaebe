"""Locks and semaphores."""
from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Type

from . import _calls
from ._errors import Taken
from ._hold import Hold
from ._library import (
    DETACHED,
    Seconds,
    c_text,
    check,
    ffi,
    library,
    made,
    milliseconds,
    text_of,
    wait_set,
)
from ._owned import Owned

if TYPE_CHECKING:
    from ._client import Base

TRY = 32  # HF_ACQUIRE_TRY
FIXED = 1  # HF_ACQUIRE_FIXED
FAIR = 1  # HF_ORDER_FAIR


class Info(NamedTuple):
    """What the store knows about a lock."""

    locked: bool
    owner: str
    host: str
    label: str
    pid: int
    fence: int
    ttl: Optional[float]  # seconds; None if it is free, or does not expire
    waiters: int  # -1 if unknown


def acquire_options(
    wait: Optional[Seconds],
    lease: Seconds,
    *,
    renew: bool = True,
    detached: bool = False,
    feed: Seconds = 0,
    max_hold: Seconds = 0,
    permits: int = 0,
) -> Any:
    """A struct hf_acquire_options."""
    options = made("hf_acquire_options")
    wait_set(options, wait, TRY)
    options.flags |= (0 if renew else FIXED) | (DETACHED if detached else 0)
    options.lease_ms = milliseconds(lease)
    options.feed_ms = milliseconds(feed)
    options.max_hold_ms = milliseconds(max_hold)
    options.permits = permits
    return options


def release_quietly(raw: Any) -> None:
    """Release what an interrupted call has acquired."""
    library().hf_hold_release(raw, ffi.NULL)


class _Acquirable(Owned):
    """What locks and semaphores share: acquire in each form."""

    _prefix = ""  # of the calls in C
    _ended: Any = None

    def _acquire(self, options: Any) -> Hold:
        """Acquire; on the main thread by a call that Ctrl-C can interrupt."""
        main = threading.current_thread() is threading.main_thread()
        if not main or options.flags & TRY:
            out = ffi.new("hf_hold **")
            err = ffi.new("struct hf_error *")
            call = getattr(library(), self._prefix + "_acquire")
            check(call(self.raw, options, out, err), self._name, err)
            return Hold(self._client, out[0])
        begin = getattr(library(), self._prefix + "_acquire_start")

        def start(user: Any, token: Any, err: Any) -> int:
            options.cancel = token
            return int(begin(self.raw, options, self._ended, user, err))

        got = _calls.wait_for(
            self._client.raw, self._name, start, release_quietly
        )
        return Hold(self._client, got)

    def _attach(self, ticket: str, lease: Seconds) -> Hold:
        out = ffi.new("hf_hold **")
        err = ffi.new("struct hf_error *")
        call = getattr(library(), self._prefix + "_attach")
        status = call(self.raw, c_text(ticket), milliseconds(lease), out, err)
        check(status, self._name, err)
        return Hold(self._client, out[0])

    def attach(self, ticket: str, *, lease: Seconds = 0) -> Hold:
        """Take over a hold that another process has detached."""
        return self._attach(ticket, lease)


class Lock(_Acquirable):
    """A name on a client.  It is reentrant: what a thread holds it may acquire
    again.  `with lock as hold:` waits without a limit."""

    _prefix = "hf_lock"
    _ended = _calls.acquired

    def __init__(
        self, client: Base, name: str, *, kind: int = 0, fair: bool = False
    ) -> None:
        options = made("hf_lock_options")
        options.kind = kind
        options.order = FAIR if fair else 0
        super().__init__(
            client,
            name,
            "hf_lock",
            lambda c, n, out, err: int(
                library().hf_lock_open_as(c, n, options, out, err)
            ),
        )
        self._mine = threading.local()

    def acquire(
        self,
        wait: Optional[Seconds] = None,
        *,
        lease: Seconds = 0,
        renew: bool = True,
        detached: bool = False,
        feed: Seconds = 0,
        max_hold: Seconds = 0,
    ) -> Hold:
        """Acquire it.  `wait`: None is no limit, 0 tries once.  Raises Taken or
        Timeout if another holder has it."""
        options = acquire_options(
            wait,
            lease,
            renew=renew,
            detached=detached,
            feed=feed,
            max_hold=max_hold,
        )
        options.holder = library().hf_holder_self()
        return self._acquire(options)

    def try_acquire(self) -> Optional[Hold]:
        """Try once; None if another holder has it."""
        try:
            return self.acquire(0)
        except Taken:
            return None

    def inspect(self) -> Info:
        """Ask the store about the lock."""
        info = made("hf_info")
        err = ffi.new("struct hf_error *")
        check(library().hf_lock_inspect(self.raw, info, err), self._name, err)
        return Info(
            bool(info.locked),
            text_of(info.owner),
            text_of(info.host),
            text_of(info.label),
            info.pid,
            info.fence,
            info.ttl_ms / 1000 if info.ttl_ms >= 0 else None,
            info.waiters,
        )

    def break_it(self) -> bool:
        """Take the lock away from its holder; True if there was one."""
        was = ffi.new("int *")
        err = ffi.new("struct hf_error *")
        check(library().hf_lock_break(self.raw, was, err), self._name, err)
        return bool(was[0])

    def _stack(self) -> List[Hold]:
        if not hasattr(self._mine, "holds"):
            self._mine.holds = []
        holds: List[Hold] = self._mine.holds
        return holds

    def __enter__(self) -> Hold:
        hold = self.acquire()
        self._stack().append(hold)
        return hold

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self._stack().pop().__exit__(kind, value, trace)


class Semaphore(_Acquirable):
    """At most as many holders at a time as there are permits."""

    _prefix = "hf_semaphore"
    _ended = _calls.permitted

    def __init__(
        self, client: Base, name: str, permits: int, *, fair: bool = False
    ) -> None:
        options = made("hf_semaphore_options")
        options.permits = permits
        options.order = FAIR if fair else 0
        super().__init__(
            client,
            name,
            "hf_semaphore",
            lambda c, n, out, err: int(
                library().hf_semaphore_open(c, n, options, out, err)
            ),
        )

    def acquire(
        self,
        wait: Optional[Seconds] = None,
        *,
        permits: int = 1,
        lease: Seconds = 0,
    ) -> Hold:
        """Acquire permits, all or none; `wait` as for a lock."""
        return self._acquire(acquire_options(wait, lease, permits=permits))

    def try_acquire(self, *, permits: int = 1) -> Optional[Hold]:
        try:
            return self.acquire(0, permits=permits)
        except Taken:
            return None

    def available(self) -> int:
        """How many permits are free now."""
        state = made("hf_semaphore_state")
        err = ffi.new("struct hf_error *")
        status = library().hf_semaphore_state(self.raw, state, err)
        check(status, self._name, err)
        return int(state.available)
