"""What fails, and how: an exception class for each status."""
from typing import Dict, Type


class LibraryMissing(ImportError):
    """libholdfast is not installed, or not where it is looked for."""


class HoldfastError(Exception):
    """A call failed: `status` is the number, `text` the reason in words."""

    def __init__(self, status: int, name: str, text: str) -> None:
        super().__init__(f"{name}: {text}" if name else text)
        self.status = status
        self.name = name
        self.text = text


class Taken(HoldfastError):
    """Another holder has the lock or the permits."""


class Timeout(HoldfastError, TimeoutError):
    """The time was over while another holder still had the lock."""


class Unavailable(HoldfastError):
    """The store did not answer."""


class Lost(HoldfastError):
    """The hold was lost while it was held: stop touching the resource."""


class Cancelled(HoldfastError):
    """The caller cancelled the call."""


class Expired(HoldfastError):
    """The lease of the hold had ended: stop touching the resource."""


class Invalid(HoldfastError, ValueError):
    """An argument, or the order of calls, is wrong."""


class NotOwner(HoldfastError):
    """The caller does not hold the lock."""


class Conflict(HoldfastError):
    """Something else is stored under the name."""


class Denied(HoldfastError, PermissionError):
    """The store does not permit the request."""


class Unsupported(HoldfastError):
    """The store cannot do that."""


class Forked(HoldfastError):
    """The client was opened by the parent of this process."""


class Closed(HoldfastError):
    """The client is closed."""


class Changed(HoldfastError):
    """The value has changed since it was read."""


_classes: Dict[int, Type[HoldfastError]] = {
    -1: Taken,
    -2: Timeout,
    -3: Unavailable,
    -4: Lost,
    -5: Cancelled,
    -6: Expired,
    -7: Invalid,
    -8: NotOwner,
    -9: Conflict,
    -10: Denied,
    -11: Unsupported,
    -12: Forked,
    -13: Closed,
    -16: Changed,
}


def error_of(status: int, name: str, text: str) -> HoldfastError:
    """The exception for a status; HoldfastError itself if it has no class."""
    return _classes.get(status, HoldfastError)(status, name, text)
