"""Fixtures shared by the tests."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Return the directory with the real data; skip where there is none."""
    path = os.environ.get("MTMETA_DATA")
    if not path:
        pytest.skip("real data: MTMETA_DATA is not set")
    return Path(path)
