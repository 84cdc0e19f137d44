"""Scores of systems: over the translations that people rated, as published, or adjusted for difficulty."""

from io import StringIO

import numpy as np
import pandas as pd
import pytest

import mtmeta as mm
from mtmeta._systems import adjusted_means

HALF_RATED = """system,segment,human,M,holes
A,1,-10,0,0
A,2,-10,0,0
A,3,,9,9
B,1,-8,1,1
B,2,-7,1,
B,3,,5,5
C,1,-6,2,2
C,2,-5,2,2
C,3,,1,1
"""


@pytest.fixture
def half_rated(tmp_path):
    (tmp_path / "half.csv").write_text(HALF_RATED)
    return tmp_path / "half.csv"


def test_both_sides_speak_about_the_translations_that_both_have(half_rated):
    es = mm.load(half_rated)
    assert (es.scores, es.system_scores["M"].tolist()) == ("paired", [0, 1, 2])
    assert es.system_scores_of("holes").to_numpy().tolist() == [[-10, 0], [-8, 1], [-5.5, 2]]
    assert es.system_scores["human"].tolist() == [-10, -7.5, -5.5]
    published = es.with_system_scores("published")
    assert published.system_scores["M"].tolist() == [3, pytest.approx(7 / 3), pytest.approx(5 / 3)]
    assert published.system_scores_of("holes")["human"].tolist() == [-10, -7.5, -5.5]
    values = {e.scores: mm.pairwise_accuracy(e, "M")["value"].tolist() for e in (es, published)}
    assert values == {"paired": [1], "published": [0]}
    assert mm.rank([es], metrics=["M"]).tasks.query("level == 'system'")["value"].tolist() == pytest.approx(
        [1, np.corrcoef([-10, -7.5, -5.5], [0, 1, 2])[0, 1]]
    )
    assert mm.differences.system_pairs(es, "M")["agreement"].tolist() == [1, 1, 1]


def test_the_commands_say_what_hangs_on_it(half_rated, command_line):
    for command in (["correlate", "--level", "system"], ["rank"], ["validate"]):
        code, out, err = command_line(*command, half_rated)
        assert (code, "+1.00, over all -1.00); here the rated ones count" in out + err) == (0, True), command
    found = command_line("correlate", "--level", "system", "--format", "csv", half_rated)[1]
    values = pd.read_csv(StringIO(found)).set_index("metric")["value"]
    assert values["holes"] == pytest.approx(np.corrcoef([-10, -8, -5.5], [0, 1, 2])[0, 1])


def test_official_scores_count_unless_others_are_named():
    official = pd.DataFrame({"human": [1.0, 2], "M": [4.0, 3], "corpus": [5.0, 6]}, index=["A", "B"])
    es = mm.EvalSet([[2, 0], [0, 0]], {"M": [[1, 2], [3, 4]]}, systems=["A", "B"], about={"system_scores": official})
    assert (es.scores, es.system_scores["M"].tolist()) == ("published", [4, 3])
    paired = es.with_system_scores("paired").system_scores
    assert paired.to_dict("list") == {"human": [1, 0], "M": [1.5, 3.5], "corpus": [5, 6]}
    with pytest.raises(ValueError, match="scores"):
        es.with_system_scores("mean")


@pytest.fixture
def other_segments():
    """Return true strengths, and ratings of each system on some segments; the better the system, the harder these."""
    rng = np.random.default_rng(0)
    strength, difficulty = np.arange(5.0), np.linspace(0, 20, 40)
    human = strength[:, None] - difficulty + rng.normal(0, 0.1, (5, 40))
    human[np.abs(np.arange(40) - 8 * np.arange(5)[:, None]) > 9] = np.nan
    return strength, human


def test_adjusted_scores_are_those_of_a_regression_on_systems_and_segments(other_segments):
    strength, human = other_segments
    system, segment = np.nonzero(~np.isnan(human))
    design = np.hstack([np.eye(5)[system], np.eye(40)[segment]])
    fitted = np.linalg.lstsq(design, human[system, segment], rcond=None)[0]
    expected = fitted[:5] + fitted[5:][np.unique(segment)].mean()
    np.testing.assert_allclose(adjusted_means(human), expected, atol=1e-9)
    es = mm.EvalSet(human, {"M": np.nan_to_num(human)}, systems=list("ABCDE"))
    assert es.system_scores["human"].is_monotonic_decreasing
    adjusted = es.with_system_scores("adjusted").system_scores
    np.testing.assert_allclose(np.diff(adjusted["human"]), np.diff(strength), atol=0.2)
    np.testing.assert_allclose(adjusted["M"], adjusted["human"], atol=1e-12)  # equal where rated
    complete = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(adjusted_means(complete), complete.mean(axis=1), atol=1e-12)


def test_systems_without_a_common_segment_cannot_be_adjusted():
    es = mm.EvalSet([[1, None], [None, 2]], {"M": [[1, 2], [3, 4]]}, systems=["A", "B"])
    with pytest.raises(ValueError, match="share no segment"):
        _ = es.with_system_scores("adjusted").system_scores


def test_systems_without_a_common_segment_are_pointed_out():
    parts = np.full((4, 12), np.nan)
    parts[:2, :6], parts[2:, 6:] = np.arange(12.0).reshape(2, 6), np.arange(12.0).reshape(2, 6)
    found = mm.validate(mm.EvalSet(parts, {"M": np.nan_to_num(parts)}, systems=list("ABCD")))
    assert found["note"].str.contains("some systems share no segment with the others", na=False).sum() == 1
