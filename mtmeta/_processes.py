"""Processes that do a share of the work."""

from collections.abc import Iterable
from typing import Any


def parallel(n_jobs: int | None, calls: Iterable[Any], *, return_as: str = "generator", **options: Any) -> Any:
    """Return an iterator over the results of joblib's delayed calls."""
    from joblib import Parallel

    return Parallel(n_jobs, return_as=return_as, **options)(calls)
