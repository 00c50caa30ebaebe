"""What a call has acquired."""
import enum
from types import TracebackType
from typing import Any, Callable, NamedTuple, Optional, Type

from ._library import (
    Numbered,
    Seconds,
    callback,
    check,
    check_bare,
    ffi,
    library,
    milliseconds,
    text_of,
)


class State(enum.IntEnum):
    """The state of a hold."""

    NONE = 0  # not held by this holder
    HELD = 1
    AT_RISK = 2  # not renewed in time: wind down
    LOST = 3  # stop now


class Cap(enum.IntFlag):
    """What a store can do: HF_CAP_* of client.h."""

    FENCE = 0x01
    LEASE = 0x02
    KERNEL = 0x08
    DETACHED = 0x10
    WATCH = 0x20
    BREAK = 0x40
    LIST = 0x80
    BALLOT = 0x100
    VALUE = 0x200
    GUARD = 0x400
    RW = 0x800
    QUEUE = 0x1000
    PERMIT = 0x2000
    TALLY = 0x4000
    IN_ORDER = 0x8000


class Event(NamedTuple):
    """A change of state of one hold."""

    name: str
    state: State
    fence: int
    valid: float  # seconds
    text: str  # the reason; "" for HELD


StateFn = Callable[[Event], None]

watchers = Numbered()


def event_of(ev: Any) -> Event:
    raw = bytes(ffi.buffer(ev.name, ev.name_len))
    return Event(
        raw.decode("utf-8", "surrogateescape"),
        State(ev.state),
        ev.fence,
        ev.valid_ms / 1000,
        text_of(ev.text),
    )


@callback("hf_hold_state_fn")
def _hold_changed(_hold: Any, ev: Any, user: Any) -> None:
    fn = watchers.get(user)
    if fn is not None:
        fn(event_of(ev))


@callback("hf_state_fn")
def client_changed(ev: Any, user: Any) -> None:
    fn = watchers.get(user)
    if fn is not None:
        fn(event_of(ev))


class HoldBase:
    """What the holds of threads and of tasks share."""

    def __init__(self, owner: Any, raw: Any) -> None:
        self._owner = owner  # the client, which must not be closed before
        self._raw = raw
        self._name = text_of(library().hf_hold_name(raw))
        self._fence: int = library().hf_hold_fence(raw)
        self._watcher = 0

    @property
    def name(self) -> str:
        return self._name

    @property
    def fence(self) -> int:
        """The fencing token: send it with every write.  0 if it has none."""
        return self._fence

    @property
    def valid(self) -> float:
        """Seconds for which the hold is still valid, by the local clock: check it
        before each protected write."""
        ms: int = library().hf_hold_valid_ms(self._raw)
        return float("inf") if ms == 2**63 - 1 else ms / 1000

    @property
    def state(self) -> State:
        return State(library().hf_hold_state(self._raw))

    @property
    def why(self) -> str:
        """Why it is not renewed, or was lost; "" if all is well."""
        text = ffi.new("char[256]")
        library().hf_hold_why(self._raw, text)
        return text_of(text)

    @property
    def count(self) -> int:
        """How many handles share it; of a semaphore, its permits."""
        return int(library().hf_hold_count(self._raw))

    @property
    def lease(self) -> float:
        return float(library().hf_hold_lease_ms(self._raw)) / 1000

    @property
    def is_local(self) -> bool:
        """True if it excludes holders of this host only: fallback=local."""
        return bool(library().hf_hold_guarantee(self._raw))

    def on_state(self, fn: Optional[StateFn]) -> None:
        """Call `fn` with each change of state, on a thread of the library."""
        number = watchers.add(lambda ev: fn(ev)) if fn else 0
        err = ffi.new("struct hf_error *")
        status = library().hf_hold_on_state(
            self._raw,
            _hold_changed if fn else ffi.NULL,
            watchers.user(number),
            err,
        )
        if status != 0:
            watchers.remove(number)
            check(status, self._name, err)
        watchers.remove(self._watcher)
        self._watcher = number

    def feed(self) -> None:
        """Report progress of the work; for a hold acquired with `feed`."""
        check_bare(library().hf_hold_feed(self._raw), self._name)

    def ticket(self) -> str:
        """Detach the hold; returns the ticket for another process."""
        out = ffi.new("char[192]")
        err = ffi.new("struct hf_error *")
        status = library().hf_hold_ticket(self._raw, out, 192, err)
        check(status, self._name, err)
        self.give_up()
        return text_of(out)

    def give_up(self) -> Any:
        """Take the handle out of this object."""
        raw, self._raw = self._raw, ffi.NULL
        watchers.remove(self._watcher)
        self._owner = None
        return raw


class Hold(HoldBase):
    """A lock or permits that are held.  Renewed until it is released; a `with`
    releases it at its end, and raises if it was lost meanwhile."""

    def extend(self, lease: Seconds = 0) -> None:
        """Start the lease again; 0: with the same length."""
        err = ffi.new("struct hf_error *")
        status = library().hf_hold_extend(self._raw, milliseconds(lease), err)
        check(status, self._name, err)

    def release(self) -> None:
        """Release the hold.  It is gone afterwards, whatever this raises."""
        err = ffi.new("struct hf_error *")
        status = library().hf_hold_release(self.give_up(), err)
        check(status, self._name, err)

    def __enter__(self) -> "Hold":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        _value: Optional[BaseException],
        _trace: Optional[TracebackType],
    ) -> None:
        if self._raw == ffi.NULL:
            return  # released, or detached
        try:
            self.release()
        except Exception:
            if kind is None:
                raise  # otherwise the block's own exception says more
