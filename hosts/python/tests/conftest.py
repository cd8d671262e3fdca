import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _forget_modules() -> Iterator[None]:
    """Modules of one test's project are not those of the next, though they have the same names."""
    before = set(sys.modules)
    path = list(sys.path)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("__"):
            del sys.modules[name]
    sys.path[:] = path
