"""Parts of a set by a column: domain, document, or any column of a table."""

from io import StringIO

import pandas as pd
import pytest
from campaigns import refuses
from pandas.testing import assert_frame_equal

import mtmeta as mm


@pytest.fixture
def by_year(tmp_path):
    frame = mm.load("teaching").to_frame()[["system", "segment", "human", "chrF", "Judge", "domain"]]
    frame["year"] = 2020 + frame["segment"] % 2
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def test_parts_of_a_set_and_of_a_table(by_year):
    whole, *parts = mm.load_all("teaching", by="domain")
    assert [part.name for part in parts] == [f"teaching/{d}" for d in sorted(set(whole.domains))]
    news = [s for s, d in zip(whole.segments, whole.domains, strict=True) if d == "news"]
    assert_frame_equal(mm.correlate(parts[2]), mm.correlate(whole.select(segments=news)))
    names = [es.name for es in mm.load_all(by_year, by="year")]
    assert names == ["t", "t/2020", "t/2021"]
    odd = mm.load_all(by_year, by="year")[2]
    assert (set(odd.segments), odd.metrics) == ({s for s in whole.segments if s % 2}, ("chrF", "Judge"))
    refuses("column in", mm.load_all, by_year, by="decade")
    refuses("no column 'year'", mm.load_all, "teaching", by="year")


@pytest.mark.parametrize(
    "command", ["rank {} --n-resamples 0", "correlate {}", "compare {} Judge chrF", "systems Ember Aster {}"]
)
def test_each_part_has_a_row(command, by_year, command_line):
    line = [by_year if part == "{}" else part for part in command.split()]
    code, out, _ = command_line(*line, "--by", "year", "--format", "csv")
    table = pd.read_csv(StringIO(out))
    assert (code, table["set"].unique().tolist()) == (0, ["t", "t/2020", "t/2021"])
    if command.startswith("correlate"):
        odd = mm.correlate(mm.load_all(by_year, by="year")[2])
        assert table.loc[table["set"] == "t/2021", "value"].tolist() == pytest.approx(odd["value"].tolist())
