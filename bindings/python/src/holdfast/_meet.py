"""Latches and barriers: wait for events, or for each other."""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Optional

from . import _calls
from ._library import Seconds, check, ffi, library, made, wait_set
from ._owned import Owned

if TYPE_CHECKING:
    from ._client import Base

TRY = 1  # HF_WAIT_TRY


def waiting(
    wait: Optional[Seconds], start: Callable[..., int], raw: Any, ended: Any
) -> Callable[[Any, Any, Any], int]:
    """Begin a wait, for _calls.start()."""
    options = made("hf_wait_options")
    wait_set(options, wait, TRY)

    def begin(user: Any, token: Any, err: Any) -> int:
        options.cancel = token
        return int(start(raw, options, ended, user, err))

    return begin


@dataclass(frozen=True)
class Passed:
    """How a party passed a barrier."""

    generation: int  # the same for all that passed together
    index: int  # different for each of them


class Latch(Owned):
    """Opens after a number of events.  One that is not set is open."""

    def __init__(self, client: Base, name: str) -> None:
        super().__init__(
            client,
            name,
            "hf_latch",
            lambda c, n, out, err: int(library().hf_latch_open(c, n, out, err)),
        )

    def set(self, count: int) -> None:
        """Raises Taken if it is set already."""
        err = ffi.new("struct hf_error *")
        check(library().hf_latch_set(self.raw, count, err), self._name, err)

    def down(self) -> int:
        """Count down by one; what is left."""
        return self._ask(library().hf_latch_down)

    def count(self) -> int:
        """What is left; 0 if it is open."""
        return self._ask(library().hf_latch_count)

    def _ask(self, call: Callable[..., int]) -> int:
        left = ffi.new("int64_t *")
        err = ffi.new("struct hf_error *")
        check(call(self.raw, left, err), self._name, err)
        return int(left[0])

    def delete(self) -> bool:
        """True if it was set; its waiters get Lost."""
        was = ffi.new("int *")
        err = ffi.new("struct hf_error *")
        check(library().hf_latch_delete(self.raw, was, err), self._name, err)
        return bool(was[0])

    def wait(self, wait: Optional[Seconds] = None) -> None:
        """Wait until it is open: None is no limit, 0 looks once."""
        start = library().hf_latch_wait_start
        begin = waiting(wait, start, self.raw, _calls.opened)
        _calls.wait_for(
            self._client.raw, self._name, begin, lambda _got: None
        )


class Barrier(Owned):
    """Lets a number of parties through together."""

    def __init__(self, client: Base, name: str, parties: int) -> None:
        super().__init__(
            client,
            name,
            "hf_barrier",
            lambda c, n, out, err: int(
                library().hf_barrier_open(c, n, parties, out, err)
            ),
        )

    def wait(self, wait: Optional[Seconds] = None) -> Passed:
        """Count as one party, and wait for the others."""
        start = library().hf_barrier_wait_start
        begin = waiting(wait, start, self.raw, _calls.passed)
        return Passed(
            *_calls.wait_for(
                self._client.raw, self._name, begin, lambda _got: None
            )
        )
