"""Figures that the examples of docstrings draw are closed again."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _closed():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
