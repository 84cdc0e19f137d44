"""Tables of scores in pickles, read without running anything that is in them."""

import io
import math
import pickle


def read_scores_pickle(raw: bytes, what: str = "the pickle", *, none: bool = False) -> dict[str, list]:
    """Read ``{system: [score, …]}`` from a pickle without running anything that is in it.

    A pickle is a program, which can do harm only by a name that it imports. It is read by an unpickler that imports
    none.

    Parameters
    ----------
    raw : bytes
        The pickle.
    what : str
        Its name in messages.
    none : bool
        Whether None (not rated) and whole numbers are allowed.

    Returns
    -------
    dict of str to list of float
        System to scores, in the order of the pickle; all lists are of one length.

    Raises
    ------
    ValueError
        If the pickle holds anything else.

    Examples
    --------
    >>> read_scores_pickle(pickle.dumps({"A": [0.5, 0.25]}))
    {'A': [0.5, 0.25]}
    >>> read_scores_pickle(pickle.dumps(print))
    Traceback (most recent call last):
      ...
    ValueError: the pickle is refused, and nothing in it was run: it asks to import builtins.print.
    """
    try:
        scores = _NoImports(io.BytesIO(raw)).load()
    except Exception as error:  # a damaged pickle may end its reader in many ways; nothing in it is called
        raise ValueError(f"{what} is refused, and nothing in it was run: {error}.") from error
    kinds = float | int | None if none else float
    is_table = isinstance(scores, dict) and all(
        isinstance(system, str) and isinstance(values, list) and all(isinstance(v, kinds) for v in values)
        for system, values in scores.items()
    )
    if not is_table or len({len(values) for values in scores.values()}) != 1:
        raise ValueError(f"{what} does not hold {{system: [score, …]}} with lists of floats of one length.")
    if not all(v is None or math.isfinite(v) for values in scores.values() for v in values):
        raise ValueError(f"{what} holds a score that is not finite.")
    return scores


class _NoImports(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> None:
        raise pickle.UnpicklingError(f"it asks to import {module}.{name}")
