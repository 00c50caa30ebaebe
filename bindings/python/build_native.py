"""Makes holdfast/_native.py, the calls of libholdfast for cffi, which opens the
library at run time.  `python build_native.py FILE` writes it there."""
import os
import sys

from cffi import FFI

here = os.path.dirname(os.path.abspath(__file__))
ffi = FFI()
with open(os.path.join(here, "declarations.h"), encoding="ascii") as header:
    ffi.cdef(header.read())
ffi.set_source("holdfast._native", None)

if __name__ == "__main__":
    ffi.emit_python_code(sys.argv[1])
