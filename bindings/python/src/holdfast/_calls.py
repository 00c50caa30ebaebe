"""Calls that wait: started in C, ended by a callback.  A thread that waits for
one can be interrupted by Ctrl-C, which a blocking C call cannot."""
import threading
from typing import Any, Callable, Optional, Tuple

from ._errors import HoldfastError, error_of
from ._library import Numbered, OK, callback, check, ffi, library, text_of

# What a call ends with: its value, or what to raise.
Ended = Callable[[Any, Optional[HoldfastError]], None]
# Begin it: the arguments are the callback's table, `user`, the token and err.
Begin = Callable[[Any, Any, Any], int]

_running = Numbered()


def _end(user: Any, status: int, value: Any, err: Any) -> None:
    number = int(ffi.cast("uintptr_t", user))
    ended = _running.get(user)
    _running.remove(number)
    if ended is None:
        return
    if status == OK:
        ended(value, None)
    else:
        ended(None, error_of(status, "", text_of(err.text)))


@callback("hf_acquired_fn")
def acquired(_lock: Any, status: int, hold: Any, err: Any, user: Any) -> None:
    _end(user, status, hold, err)


@callback("hf_semaphore_acquired_fn")
def permitted(_sem: Any, status: int, hold: Any, err: Any, user: Any) -> None:
    _end(user, status, hold, err)


@callback("hf_hold_fn")
def released(_hold: Any, status: int, err: Any, user: Any) -> None:
    _end(user, status, None, err)


@callback("hf_latch_fn")
def counted(_latch: Any, status: int, left: int, err: Any, user: Any) -> None:
    _end(user, status, left, err)


@callback("hf_latch_waited_fn")
def opened(_latch: Any, status: int, err: Any, user: Any) -> None:
    _end(user, status, None, err)


@callback("hf_passed_fn")
def passed(_barrier: Any, status: int, how: Any, err: Any, user: Any) -> None:
    value: Tuple[int, int] = (0, 0)
    if status == OK:
        value = (how.generation, how.index)
    _end(user, status, value, err)


@callback("hf_campaigned_fn")
def campaigned(
    _election: Any, status: int, _hold: Any, err: Any, user: Any
) -> None:
    _end(user, status, None, err)


@callback("hf_resigned_fn")
def resigned(_election: Any, status: int, err: Any, user: Any) -> None:
    _end(user, status, None, err)


def start(name: str, begin: Begin, token: Any, ended: Ended) -> None:
    """Begin a call; `ended` is called once unless this raises."""
    number = _running.add(ended)
    err = ffi.new("struct hf_error *")
    status = begin(_running.user(number), token, err)
    if status != OK:
        _running.remove(number)
        check(status, name, err)


def token_open(client: Any) -> Any:
    """A cancel token, for one call."""
    out = ffi.new("hf_cancel **")
    status = library().hf_cancel_open(client, out)
    if status != OK:
        raise error_of(
            status, "", text_of(library().hf_status_text(status))
        )
    return out[0]


def named(why: HoldfastError, name: str) -> HoldfastError:
    """The same failure, with the name of the object in front of its text."""
    return error_of(why.status, name, why.text)


def wait_for(
    client: Any, name: str, begin: Begin, undo: Callable[[Any], None]
) -> Any:
    """Run a call to its end on this thread.  An interrupt cancels the
    call, and passes to `undo` what it may have acquired."""
    done = threading.Event()
    got: list[Any] = [None, None]

    def ended(value: Any, why: Optional[HoldfastError]) -> None:
        got[:] = value, why
        done.set()

    token = token_open(client)
    try:
        start(name, begin, token, ended)
    except BaseException:
        library().hf_cancel_close(token)
        raise
    try:
        done.wait()
    except BaseException:
        library().hf_cancel_fire(token)
        done.wait()
        if got[1] is None:
            undo(got[0])
        raise
    finally:
        if done.is_set():
            library().hf_cancel_close(token)
    if got[1] is not None:
        raise named(got[1], name)
    return got[0]
