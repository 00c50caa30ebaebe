"""A connection to the store that keeps the locks."""
import threading
import weakref
from types import TracebackType
from typing import Any, Callable, Dict, List, Optional, Type

from ._election import Election
from ._errors import error_of
from ._hold import Cap, StateFn, client_changed, watchers
from ._library import (
    Seconds,
    c_text,
    check,
    ffi,
    inside,
    library,
    made,
    milliseconds,
    text_of,
)
from ._lock import Lock, Semaphore
from ._meet import Barrier, Latch
from ._value import Value

CLOSED = -13


class Handle:
    """The client in C, closed once.  Its objects are freed only while it is open,
    because closing the client frees all of them."""

    def __init__(self, raw: Any, watcher: int) -> None:
        self.raw = raw
        self._watcher = watcher
        self._mutex = threading.RLock()

    def free(self, close: Callable[[Any], None], raw: Any) -> None:
        with self._mutex:
            if self.raw != ffi.NULL:
                close(raw)

    def close(self) -> None:
        with self._mutex:
            raw, self.raw = self.raw, ffi.NULL
        if raw == ffi.NULL:
            return
        if getattr(inside, "depth", 0):  # C waits for callbacks to return
            threading.Thread(target=self._close, args=(raw,)).start()
        else:
            self._close(raw)

    def _close(self, raw: Any) -> None:
        library().hf_client_close(raw)
        watchers.remove(self._watcher)


class Base:
    """What threads' and tasks' clients share: options, and closing."""

    _flags = 0

    def __init__(
        self,
        url: Optional[str] = None,
        *,
        lease: Seconds = 0,
        timeout: Seconds = 0,
        patience: Seconds = 0,
        user: Optional[str] = None,
        password: Optional[str] = None,
        label: Optional[str] = None,
        on_state: Optional[StateFn] = None,
    ) -> None:
        options = made("hf_client_options")
        options.flags = self._flags
        options.lease_ms = milliseconds(lease)
        options.timeout_ms = milliseconds(timeout)
        options.patience_ms = milliseconds(patience)
        kept: List[Any] = []

        def text(value: Optional[str]) -> Any:
            if value is None:
                return ffi.NULL
            kept.append(ffi.new("char[]", c_text(value)))
            return kept[-1]

        options.user = text(user)
        options.password = text(password)
        options.label = text(label)
        watcher = watchers.add(on_state) if on_state else 0
        if on_state:
            options.on_state = client_changed
            options.state_user = watchers.user(watcher)
        out = ffi.new("hf_client **")
        err = ffi.new("struct hf_error *")
        status = library().hf_client_open(text(url), options, out, err)
        if status != 0:
            watchers.remove(watcher)
            check(status, "", err)
        self._handle = Handle(out[0], watcher)
        self._end = weakref.finalize(self, self._handle.close)

    @property
    def raw(self) -> Any:
        """The `hf_client *`, while it is open."""
        raw = self._handle.raw
        if raw == ffi.NULL:
            raise error_of(CLOSED, "", "the client is closed")
        return raw

    def free(self, close: Callable[[Any], None], raw: Any) -> None:
        self._handle.free(close, raw)

    @property
    def url(self) -> str:
        """The URL, without its password."""
        return text_of(library().hf_client_url(self.raw))

    @property
    def caps(self) -> Cap:
        """What the store can do."""
        return Cap(library().hf_client_caps(self.raw) & 0xFFFB)

    def stats(self) -> Dict[str, Any]:
        """What it has done since it was opened: stats.h, by name.  Times are
        microseconds; a `..._bins` is a list."""
        out = made("hf_stats")
        err = ffi.new("struct hf_error *")
        check(library().hf_client_stats(self.raw, out, err), "", err)
        fields = ffi.typeof("struct hf_stats").fields[1:]
        return {
            name: list(getattr(out, name))
            if name.endswith("_bins")
            else int(getattr(out, name))
            for name, _ in fields
        }

    def can(self, caps: Cap) -> bool:
        """Can the store do all of this?"""
        return (self.caps & caps) == caps


class Client(Base):
    """A client: one is enough for a process, for threads may share it.

    `url` is as for hf_client_open(); None is this host.  `on_state` is called
    with each change of state of a hold, on a thread of the library.
    """

    def lock(self, name: str, *, fair: bool = False) -> Lock:
        return Lock(self, name, fair=fair)

    def read_lock(self, name: str, *, fair: bool = False) -> Lock:
        """The side of a read/write lock for any number of readers."""
        return Lock(self, name, kind=1, fair=fair)

    def write_lock(self, name: str, *, fair: bool = False) -> Lock:
        """The side of a read/write lock for one writer."""
        return Lock(self, name, kind=2, fair=fair)

    def semaphore(
        self, name: str, permits: int = 0, *, fair: bool = False
    ) -> Semaphore:
        """At most `permits` at a time; 0: the number that the store has."""
        return Semaphore(self, name, permits, fair=fair)

    def latch(self, name: str) -> Latch:
        return Latch(self, name)

    def barrier(self, name: str, parties: int) -> Barrier:
        return Barrier(self, name, parties)

    def election(
        self, name: str, *, lease: Seconds = 0, fair: bool = False
    ) -> Election:
        return Election(self, name, lease=lease, fair=fair)

    def value(self, key: str) -> Value:
        return Value(self, key)

    def close(self) -> None:
        """Release what is still held, and close; again, nothing happens."""
        self._end()

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        _kind: Optional[Type[BaseException]],
        _value: Optional[BaseException],
        _trace: Optional[TracebackType],
    ) -> None:
        self.close()
