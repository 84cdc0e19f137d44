"""Random tables, bytes that mean nothing, and the seeds of fuzzing. `MTMETA_EXAMPLES=5000` makes each run longer."""

import csv
import io
import json
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from mtmeta import load
from mtmeta._names import natural
from mtmeta.evalset import RESERVED

FUZZ = Path(__file__).parent / "fuzz"
sys.path.insert(0, str(FUZZ))
from targets import SUFFIXES, TARGETS  # noqa: E402 - it lies in a folder of its own

EXAMPLES = int(os.environ.get("MTMETA_EXAMPLES", "40"))
LENIENT = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
bounded = settings(max_examples=EXAMPLES, suppress_health_check=LENIENT)

#: What can stand in a file: no NUL and no half of a pair.
characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
names = st.text(characters, min_size=1, max_size=12).filter(lambda s: s.strip())
scores = st.none() | st.just(0.0) | st.floats(1e-50, 1e50) | st.floats(-1e50, -1e-50)


@st.composite
def tables(draw):
    systems = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    segments = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    metrics = draw(st.lists(names.filter(lambda m: m not in RESERVED), max_size=3, unique=True))
    rows = [(s, k) for s in systems for k in segments]
    columns = {c: draw(st.lists(scores, min_size=len(rows), max_size=len(rows))) for c in ("human", *metrics)}
    assume(all(any(v is not None for v in values) for values in columns.values()))
    frame = pd.DataFrame(rows, columns=["system", "segment"]).assign(**columns)
    return frame.iloc[draw(st.permutations(range(len(frame))))]


def written(frame, suffix, encoding, end, quoting):
    """Return a table as a program might write it."""
    cells = frame.astype(object).where(frame.notna(), None)
    if suffix == "parquet":
        out = io.BytesIO()
        frame.astype(dict.fromkeys(frame.columns[2:], float)).to_parquet(out, index=False)
        return out.getvalue()
    if suffix == "jsonl":
        lines = (json.dumps(row, ensure_ascii=False) for row in cells.to_dict("records"))
        return "".join(line + end for line in lines).encode(encoding)
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="\t" if suffix == "tsv" else ",", lineterminator=end, quoting=quoting)
    writer.writerow(cells.columns)
    writer.writerows([v if v is None or isinstance(v, str) else repr(v) for v in row] for row in cells.to_numpy())
    return text.getvalue().encode(encoding)


@pytest.mark.slow
@bounded
@given(
    frame=tables(), suffix=st.sampled_from(SUFFIXES), encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    end=st.sampled_from(["\n", "\r\n"]), quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)  # fmt: skip
def test_a_table_means_the_same_however_it_is_written(tmp_path, frame, suffix, encoding, end, quoting):
    if any("\r" in name for name in (*frame["system"], *frame["segment"], *frame.columns)):
        quoting = csv.QUOTE_ALL  # the csv module of Python 3.11 does not quote it else, and it ends a line
    path = tmp_path / f"t.{suffix}"
    path.write_bytes(written(frame, suffix, encoding, end, quoting))
    es, expected = load(path), frame.set_index(["system", "segment"])
    assert es.systems == tuple(sorted(set(frame["system"]), key=natural))
    assert (set(map(str, es.segments)), es.metrics) == (set(frame["segment"]), tuple(frame.columns[3:]))
    for name in ("human", *es.metrics):
        values = es.human if name == "human" else es[name]
        found = {(s, str(k)): values[i, j] for i, s in enumerate(es.systems) for j, k in enumerate(es.segments)}
        wanted = {key: np.nan if v is None else float(v) for key, v in expected[name].items()}
        np.testing.assert_equal(found, wanted)


@pytest.mark.slow
@bounded
@given(frame=tables(), data=st.data())
def test_a_table_with_one_byte_altered_loads_or_is_refused(frame, data):
    kind = data.draw(st.integers(0, 3))
    raw = bytearray(written(frame, SUFFIXES[kind], "utf-8", "\n", csv.QUOTE_MINIMAL))
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    TARGETS["table"](bytes([kind]) + bytes(raw))


@bounded
@given(target=st.sampled_from(sorted(TARGETS)), data=st.binary(max_size=200))
def test_bytes_are_read_or_refused(target, data):
    TARGETS[target](data)


SEEDS = [(target, path) for target in TARGETS for path in sorted((FUZZ / "seeds" / target).iterdir())]


@pytest.mark.parametrize(("target", "path"), SEEDS, ids=lambda value: value.name if isinstance(value, Path) else value)
def test_seed(target, path):
    TARGETS[target](path.read_bytes())
