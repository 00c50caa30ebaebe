"""A value with a version, for optimistic locking."""
from __future__ import annotations

from typing import TYPE_CHECKING, Callable, NamedTuple, Optional

from ._errors import Changed
from ._library import (
    VALUE_ANY,
    Seconds,
    c_text,
    check,
    ffi,
    library,
    made,
    milliseconds,
)

if TYPE_CHECKING:
    from ._client import Base


class Versioned(NamedTuple):
    """A value that was read: None, of version 0, if there is none."""

    data: Optional[bytes]
    version: int


class Value:
    """One value.  The key must not be the name of a lock."""

    ANY = VALUE_ANY  # as a version: write in any case

    def __init__(self, client: Base, key: str) -> None:
        self._client = client
        self._name = key
        self._key = c_text(key)

    def read(self) -> Versioned:
        out = made("hf_value")
        err = ffi.new("struct hf_error *")
        raw = self._client.raw
        status = library().hf_value_read(raw, self._key, out, err)
        check(status, self._name, err)
        data = bytes(ffi.buffer(out.data, out.len)) if out.data else None
        read = Versioned(data, out.version)
        library().hf_value_free(raw, out)
        return read

    def write(self, data: bytes, version: int, *, ttl: Seconds = 0) -> int:
        """Write if the version is still this one; the new version.  0: only if
        there is no value.  Raises Changed otherwise."""
        written = ffi.new("uint64_t *")
        err = ffi.new("struct hf_error *")
        status = library().hf_value_write(
            self._client.raw,
            self._key,
            version,
            data,
            len(data),
            milliseconds(ttl),
            written,
            err,
        )
        check(status, self._name, err)
        return int(written[0])

    def delete(self, version: int) -> None:
        err = ffi.new("struct hf_error *")
        status = library().hf_value_delete(
            self._client.raw, self._key, version, err
        )
        check(status, self._name, err)

    def update(
        self,
        fn: Callable[[Optional[bytes]], bytes],
        *,
        tries: int = 100,
        ttl: Seconds = 0,
    ) -> bytes:
        """Write fn(current value), again while another client is faster."""
        for _ in range(tries - 1):
            try:
                return self._update_once(fn, ttl)
            except Changed:
                continue
        return self._update_once(fn, ttl)

    def _update_once(
        self, fn: Callable[[Optional[bytes]], bytes], ttl: Seconds
    ) -> bytes:
        now = self.read()
        data = fn(now.data)
        self.write(data, now.version, ttl=ttl)
        return data
