"""An object of the library, which lives in a client."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Optional

from ._library import c_text, check, ffi, library

if TYPE_CHECKING:
    from ._client import Base


class Owned:
    """Freed with the last reference to it; unusable once its client is closed."""

    _raw: Any = None

    def __init__(
        self,
        client: Base,
        name: str,
        kind: str,
        open_it: Callable[[Any, bytes, Any, Any], int],
    ) -> None:
        self._client = client
        self._name = name
        self._close: Optional[Callable[[Any], None]] = getattr(
            library(), kind + "_close"
        )
        out = ffi.new(kind + " **")
        err = ffi.new("struct hf_error *")
        check(open_it(client.raw, c_text(name), out, err), name, err)
        self._raw = out[0]

    @property
    def name(self) -> str:
        return self._name

    @property
    def raw(self) -> Any:
        """The handle in C; raises Closed when its client is closed."""
        self._client.raw
        return self._raw

    def _free(self) -> None:
        raw, self._raw = self._raw, None
        if raw is not None and self._close is not None:
            self._client.free(self._close, raw)

    def __del__(self) -> None:
        self._free()
