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
    """Another holder has it."""


class Timeout(HoldfastError, TimeoutError):
    """Another holder had it until the time was over."""


class Unavailable(HoldfastError):
    """The store did not answer."""


class Lost(HoldfastError):
    """It was taken away while it was held: stop touching the resource."""


class Cancelled(HoldfastError):
    """The caller cancelled it."""


class Expired(HoldfastError):
    """It is not held any more: stop touching the resource."""


class Invalid(HoldfastError, ValueError):
    """An argument, or the order of calls, is wrong."""


class NotOwner(HoldfastError):
    """This holder does not hold it."""


class Conflict(HoldfastError):
    """Something else is stored under the name."""


class Denied(HoldfastError, PermissionError):
    """The store does not permit it."""


class Unsupported(HoldfastError):
    """The store cannot do that."""


class Forked(HoldfastError):
    """The client was opened by the parent of this process."""


class Closed(HoldfastError):
    """The client is closed."""


class Changed(HoldfastError):
    """It has changed since it was read."""


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
    """The exception for a status; HoldfastError itself for one without class."""
    return _classes.get(status, HoldfastError)(status, name, text)
