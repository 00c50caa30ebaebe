"""The library, and what every call needs of it.  One rule: only this file opens
it, when the first client is opened."""
import math
import os
import threading
from datetime import timedelta
from typing import Any, Callable, Dict, Iterator, List, Optional, Union

from ._errors import LibraryMissing, error_of
from ._native import ffi as _ffi

ffi: Any = _ffi
Seconds = Union[int, float, timedelta]

SONAME = "libholdfast.so.0"
DETACHED = 4  # HF_ACQUIRE_DETACHED
VALUE_ANY = 2**64 - 1  # HF_VALUE_ANY
OK = 0


def _places() -> Iterator[str]:
    """Where the library may be, likeliest first."""
    named = os.environ.get("HOLDFAST_LIBRARY")
    if named:
        yield named
        return
    yield SONAME
    for folder in os.environ.get("PKG_CONFIG_PATH", "").split(os.pathsep):
        if folder:
            yield os.path.join(os.path.dirname(folder), SONAME)
    for prefix in (os.path.expanduser("~/.local"), "/usr/local"):
        yield os.path.join(prefix, "lib", SONAME)


def _open() -> Any:
    why: List[str] = []
    for place in _places():
        try:
            return ffi.dlopen(place)
        except OSError as error:
            why.append(str(error))
    raise LibraryMissing(
        f"holdfast: {SONAME}: not found: install libholdfast, and name the file "
        f"in HOLDFAST_LIBRARY if it is in no folder of the linker ({why[0]})"
    )


_opened: Optional[Any] = None
_mutex = threading.Lock()


def library() -> Any:
    """The library, opened by the first call."""
    global _opened
    with _mutex:
        if _opened is None:
            _opened = _open()
        return _opened


def milliseconds(time: Seconds) -> int:
    """A time in milliseconds, rounded up."""
    seconds = time.total_seconds() if isinstance(time, timedelta) else time
    return math.ceil(seconds * 1000)


def wait_set(options: Any, wait: Optional[Seconds], try_flag: int) -> None:
    """Say in a struct of options how long to wait: None is no limit, 0 once."""
    if wait is not None and milliseconds(wait) == 0:
        options.flags |= try_flag
    elif wait is not None:
        options.wait_ms = milliseconds(wait)


def made(kind: str) -> Any:
    """A struct that knows its size, with zero in all other fields."""
    out = ffi.new(f"struct {kind} *")
    out.struct_size = ffi.sizeof(f"struct {kind}")
    return out


def text_of(chars: Any) -> str:
    """A C string; bytes that are no UTF-8 are kept as os.fsdecode() does."""
    raw: bytes = ffi.string(chars)
    return raw.decode("utf-8", "surrogateescape")


def c_text(text: str) -> bytes:
    """A name as C wants it; one with a NUL would be another name there."""
    if "\0" in text:
        raise error_of(-7, "", "name: contains a NUL")
    return text.encode("utf-8", "surrogateescape")


def check(status: int, name: str, err: Any) -> None:
    """Raise what a call has filled in."""
    if status != OK:
        raise error_of(status, name, text_of(err.text))


def check_bare(status: int, name: str) -> None:
    """The same, of a call that has no struct hf_error."""
    if status != OK:
        raise error_of(status, name, text_of(library().hf_status_text(status)))


class Numbered:
    """Python objects that C knows by a number, which it passes as `user`."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._kept: Dict[int, Callable[..., None]] = {}
        self._last = 0

    def add(self, kept: Callable[..., None]) -> int:
        with self._mutex:
            self._last += 1
            self._kept[self._last] = kept
            return self._last

    def get(self, user: Any) -> Optional[Callable[..., None]]:
        with self._mutex:
            return self._kept.get(int(ffi.cast("uintptr_t", user)))

    def remove(self, number: int) -> None:
        with self._mutex:
            self._kept.pop(number, None)

    def user(self, number: int) -> Any:
        return ffi.cast("void *", number)


inside = threading.local()  # .depth: how many callbacks this thread is in


def callback(kind: str) -> Callable[[Callable[..., None]], Any]:
    """A function that C may call; what it raises is printed, and goes no
    further."""

    def wrap(fn: Callable[..., None]) -> Any:
        def counted(*args: Any) -> None:
            inside.depth = getattr(inside, "depth", 0) + 1
            try:
                fn(*args)
            finally:
                inside.depth -= 1

        return ffi.callback(kind, counted)

    return wrap
