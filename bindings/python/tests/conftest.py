"""A store for each test: this process, this host, and the Redis server that
HOLDFAST_TEST_REDIS names, which the tests start (test/cli/python.sh)."""
import itertools
import os

import pytest

import holdfast

numbers = itertools.count()


@pytest.fixture(params=["memory", "file", "redis"])
def url(request, tmp_path):
    if request.param == "memory":
        return f"memory:{next(numbers)}"
    if request.param == "file":
        return f"file:{tmp_path}"
    redis = os.environ.get("HOLDFAST_TEST_REDIS")
    if not redis:
        pytest.skip("HOLDFAST_TEST_REDIS names no server")
    path, _, query = redis.partition("?")
    return f"{path}/{next(numbers) % 16}?{query}" if query else path


@pytest.fixture
def name():
    """A name that no other test has used."""
    return f"name-{next(numbers)}"


@pytest.fixture
def client(url):
    with holdfast.Client(url) as client:
        yield client
