"""The data on which adapters are tried."""

import pytest


@pytest.fixture(scope="module")
def data():
    """A frame in which every column but the first has one cause, for discovery."""
    from tests.adapters.cases import chain  # which needs pandas

    return chain()
