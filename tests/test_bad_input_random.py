"""Random tables, as they are and with bytes altered. `MTMETA_EXAMPLES=5000` makes each run longer."""

import csv
import io
import json
import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from mtmeta import EvalSet, load
from mtmeta._names import natural
from mtmeta.datasets import load_all
from mtmeta.evalset import RESERVED

SUFFIXES = ("csv", "tsv", "jsonl", "parquet")
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
@given(frame=tables(), suffix=st.sampled_from(SUFFIXES), data=st.data())
def test_a_table_with_a_few_bytes_altered_loads_or_is_refused(tmp_path, frame, suffix, data):
    raw = bytearray(written(frame, suffix, "utf-8", "\n", csv.QUOTE_MINIMAL))
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    (tmp_path / f"t.{suffix}").write_bytes(bytes(raw))
    try:
        sets = load_all(tmp_path / f"t.{suffix}")
    except (ValueError, TypeError) as error:
        refusal, sets = error, []
    else:
        refusal = None
    assert type(refusal) in (ValueError, TypeError, type(None))  # a library's own error would be of a subclass
    assert len(str(refusal)) < 5000
    for es in sets:
        if isinstance(es, EvalSet):
            assert all(isinstance(s, str) and s for s in es.systems)
            assert len(set(es.systems)) == len(es.systems)
            for values in (es.human, *(es[m] for m in es.metrics)):
                assert values.shape == (len(es.systems), len(es.segments))
                assert not np.isinf(values).any()
                assert not np.isnan(values).all()
