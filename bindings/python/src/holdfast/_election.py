"""Elect one of several candidates as the leader."""
from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Optional, Type

from . import _calls
from ._hold import State
from ._library import (
    Seconds,
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

TRY = 1  # HF_CAMPAIGN_TRY


class Leader(NamedTuple):
    """Who leads: the process, its fence, and what it has published."""

    is_me: bool
    fence: int
    host: str
    pid: int
    label: str
    value: Optional[bytes]


def campaigning(
    raw: Any, wait: Optional[Seconds], value: Optional[bytes]
) -> Callable[[Any, Any, Any], int]:
    """Begin a campaign, for _calls.start()."""
    options = made("hf_campaign_options")
    wait_set(options, wait, TRY)
    data = ffi.NULL if value is None else ffi.from_buffer(value)
    options.value = data
    options.value_len = 0 if value is None else len(value)

    def begin(user: Any, token: Any, err: Any) -> int:
        options.cancel = token
        return int(
            library().hf_election_campaign_start(
                raw, options, _calls.campaigned, user, err
            )
        )

    return begin


class Election(Owned):
    """One candidate.  Freed, or left as a `with`, it resigns."""

    def __init__(
        self,
        client: Base,
        name: str,
        *,
        lease: Seconds = 0,
        fair: bool = False,
    ) -> None:
        options = made("hf_election_options")
        options.lease_ms = milliseconds(lease)
        options.order = 1 if fair else 0
        super().__init__(
            client,
            name,
            "hf_election",
            lambda c, n, out, err: int(
                library().hf_election_open(c, n, options, out, err)
            ),
        )

    def campaign(
        self, value: Optional[bytes] = None, wait: Optional[Seconds] = None
    ) -> None:
        """Wait until this candidate leads, and publish `value`."""
        begin = campaigning(self.raw, wait, value)
        _calls.wait_for(
            self._client.raw, self._name, begin, lambda _got: self.resign()
        )

    def resign(self) -> None:
        err = ffi.new("struct hf_error *")
        check(library().hf_election_resign(self.raw, err), self._name, err)

    def publish(self, value: bytes) -> None:
        """Replace the value that was published."""
        err = ffi.new("struct hf_error *")
        status = library().hf_election_publish(
            self.raw, value, len(value), err
        )
        check(status, self._name, err)

    def look(self) -> Optional[Leader]:
        """The leader, or None."""
        out = made("hf_leader")
        err = ffi.new("struct hf_error *")
        check(library().hf_election_look(self.raw, out, err), self._name, err)
        try:
            if not out.is_led:
                return None
            return Leader(
                bool(out.is_me),
                out.fence,
                text_of(out.host),
                out.pid,
                text_of(out.label),
                bytes(ffi.buffer(out.data, out.len)) if out.data else None,
            )
        finally:
            library().hf_leader_free(self.raw, out)

    @property
    def fence(self) -> int:
        """The fencing token of the leadership; 0 without one."""
        hold = library().hf_election_hold(self.raw)
        return int(library().hf_hold_fence(hold))

    @property
    def state(self) -> State:
        hold = library().hf_election_hold(self.raw)
        return State(library().hf_hold_state(hold))

    def close(self) -> None:
        """Resign if it leads, and free it."""
        self._free()

    def __enter__(self) -> "Election":
        return self

    def __exit__(
        self,
        _kind: Optional[Type[BaseException]],
        _value: Optional[BaseException],
        _trace: Optional[TracebackType],
    ) -> None:
        self.close()
