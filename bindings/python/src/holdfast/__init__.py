"""Distributed locks that tell the truth.

    with holdfast.Client("redis://127.0.0.1") as client:
        with client.lock("nightly") as hold:
            write_with_token(hold.fence)

holdfast.aio has the same for asyncio.  Times are seconds, as a number or a
timedelta.  What fails raises a HoldfastError, whose class is its status.
"""
from ._errors import (
    Cancelled,
    Changed,
    Closed,
    Conflict,
    Denied,
    Expired,
    Forked,
    HoldfastError,
    Invalid,
    LibraryMissing,
    Lost,
    NotOwner,
    Taken,
    Timeout,
    Unavailable,
    Unsupported,
)
from ._client import Client
from ._election import Election, Leader
from ._hold import Cap, Event, Hold, State
from ._lock import Info, Lock, Semaphore
from ._meet import Barrier, Latch, Passed
from ._value import Value, Versioned

__all__ = [
    "Barrier",
    "Cancelled",
    "Cap",
    "Changed",
    "Client",
    "Closed",
    "Conflict",
    "Denied",
    "Election",
    "Event",
    "Expired",
    "Forked",
    "Hold",
    "HoldfastError",
    "Info",
    "Invalid",
    "Latch",
    "Leader",
    "LibraryMissing",
    "Lock",
    "Lost",
    "NotOwner",
    "Passed",
    "Semaphore",
    "State",
    "Taken",
    "Timeout",
    "Unavailable",
    "Unsupported",
    "Value",
    "Versioned",
]
