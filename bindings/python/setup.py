"""The part of the build that pyproject.toml cannot say: holdfast/_native.py is
made from declarations.h, and needs no C compiler."""
from setuptools import setup

setup(cffi_modules=["build_native.py:ffi"])
