"""What is fuzzed, by `run.py` and test_bad_input_random.py: functions of bytes that raise where a promise is broken."""

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from corpus._trees import DOCS, OUT, REF, SEG, SOURCE, SYS, X_SYS, X
from corpus._trees import tree as good_tree

from mtmeta import EvalSet
from mtmeta.datasets import load_all
from mtmeta.datasets._fetch import ChecksumError, _convert
from mtmeta.datasets._news import _read_archive
from mtmeta.datasets._pickles import read_scores_pickle
from mtmeta.datasets._registry import DataFile
from mtmeta.rankings import Rankings

SUFFIXES = ("csv", "tsv", "jsonl", "parquet")
#: The files of a small tree, one of which is replaced; the seeds count on this order.
TREE = (SEG, SYS, X, X_SYS, DOCS, SOURCE, REF, OUT.replace("B", "A"), OUT)


@contextlib.contextmanager
def _folder():
    with tempfile.TemporaryDirectory(prefix="mtmeta-fuzz-") as place:
        yield Path(place)


def _refusal(call, *arguments, **options):
    """Return what a call gives, or None if it refuses with an error of the package's own and a message."""
    try:
        return call(*arguments, **options)
    except (ValueError, TypeError) as error:
        if type(error) not in (ValueError, TypeError, ChecksumError):
            raise AssertionError(f"an error of a library: {type(error).__name__}") from error
        if not str(error) or len(str(error)) > 5000:
            raise AssertionError("the message is empty or endless") from error
    return None


def check_set(es):
    """Raise if a set that was loaded is not what a set must be."""
    if not isinstance(es, EvalSet):
        assert isinstance(es, Rankings)
        return
    assert es.human.shape == (len(es.systems), len(es.segments))
    assert all(isinstance(s, str) and s for s in es.systems)
    assert len(set(es.systems)) == len(es.systems)
    for scores in (es.human, *(es[m] for m in es.metrics)):
        assert scores.dtype == np.float64
        assert not np.isinf(scores).any()
        assert not np.isnan(scores).all()
    repr(es)


def table(data):
    """Load a table; the first byte chooses the format."""
    with _folder() as place:
        path = place / f"t.{SUFFIXES[data[0] % len(SUFFIXES)] if data else 'csv'}"
        path.write_bytes(data[1:])
        for es in _refusal(load_all, path) or ():
            check_set(es)


def tree(data):
    """Load a folder of which one file, chosen by the first byte, has other content."""
    with _folder() as place:
        root = good_tree(place)
        if data:
            (root / TREE[data[0] % len(TREE)]).write_bytes(data[1:])
        for es in _refusal(load_all, root) or ():
            check_set(es)


def mqm(data):
    """Load a table of MQM errors or averages, chosen by the first byte."""
    columns = "system\tseg_id\trater\tsource\ttarget\tcategory\tseverity", "system mqm_avg_score seg_id"
    with _folder() as place:
        path = place / "t.tsv"
        path.write_bytes(columns[data[0] % 2 if data else 0].encode() + b"\n" + data[1:])
        for es in _refusal(load_all, path) or ():
            check_set(es)


def pickled(data):
    for scores in (_refusal(read_scores_pickle, data) or {}).values():
        assert all(type(v) is float for v in scores)


def archive(data):
    """Read a member of a zip archive, and an archive of texts."""
    file = DataFile("t.txt", "0" * 64, 4, "http://x", "member:t.txt")
    found = _refusal(_convert, data, file)
    assert found is None or len(found) <= 5  # what is too long has another checksum
    with _folder() as place:
        (place / "txt.tar.xz").write_bytes(data)
        _refusal(_read_archive, place / "txt.tar.xz", None)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "table": table, "tree": tree, "mqm": mqm, "pickle": pickled, "archive": archive,
}  # fmt: skip
