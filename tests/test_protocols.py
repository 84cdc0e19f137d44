"""Ranking protocols: a ranking by hand, the rules, and the published numbers."""

import itertools

import numpy as np
import pytest
from campaigns import refuses, source_only

import mtmeta as mm
from mtmeta import protocols, significance


@pytest.fixture
def pair():
    y = [[0.5, 0.5], [0.4, 0.4], [0.4, 0.6]]
    metrics = {"X": [[0.9, 0.2]] * 3, "Y": y, "only_here": np.ones((3, 2)) * [[1], [2], [3]]}
    about = {"language_pair": "aa-bb", "human_systems": ["refB"]}
    first = mm.EvalSet([[0, -6], [-1, -7], [-1, -5]], metrics, systems=["A", "B", "refB"], name="one", about=about)
    metrics = {"X": [[0.9, 0.2]] * 2, "Y": [[0.5, 0.5], [0.4, 0.6]]}
    second = mm.EvalSet([[0, -3], [-2, -4]], metrics, systems=["A", "B"], name="two", about={"language_pair": "cc-dd"})
    return [first, second]


def test_average_ranks_and_ties_by_hand(pair):
    ranking = mm.rank(pair, protocol="sentinels-pearson-grouped")
    # X: no defined group, r = 0 on both pairs -> (0 + 1) / 2. Y: r = 1 and (1 - 1) / 2 = 0 -> (1 + .5) / 2
    found = ranking.table[["metric", "score", "rank"]].to_records(index=False).tolist()
    assert (found, ranking.tasks["weight"].tolist()) == ([("Y", pytest.approx(0.75), 1), ("X", 0.5, 2)], [0.5] * 4)
    assert ranking.left_out == {"one: metric 'only_here'": "not in every set at segment level"}
    assert "protocol:sentinels-pearson-grouped|pairs:aa-bb,cc-dd|metrics:2" in ranking.signature
    assert ranking.to_frame().columns.tolist()[:3] == ["metric", "score", "rank"]
    es = source_only()
    twins = mm.EvalSet(es.human, {"b": es["src"], "a": es["src"], "z": -es.human}, systems=es.systems)
    table = mm.rank(twins, protocol="sentinels-pearson-grouped").table
    assert (table["metric"].tolist(), table["rank"].tolist()) == (["a", "b", "z"], [1, 1, 3])


def test_wmt23_weights_and_who_is_ranked(pair):
    """Pooled accuracy weighs a quarter; each language pair's three tasks share the rest."""
    tasks = mm.rank(pair, protocol="wmt23").tasks.drop_duplicates("task")
    pooled = tasks[tasks["language_pair"] == "all"]
    assert (pooled["weight"].tolist(), tasks["weight"].sum()) == (pytest.approx([0.25]), pytest.approx(1))
    assert len(tasks) == 7
    assert tasks[tasks["language_pair"] != "all"]["weight"].tolist() == pytest.approx([0.125] * 6)
    for protocol, left_out in (("wmt23", set()), ("wmt24", set()), ("gemba-v2", {"one: system 'refB'"})):
        ranking = mm.rank(pair, protocol=protocol)
        assert ranking.left_out.keys() == {"one: metric 'only_here'"} | left_out
    assert ranking.left_out["one: system 'refB'"] == "human translation"
    both = mm.rank(pair, protocol="wmt24").tasks
    assert set(both["statistic"]) == set(ranking.tasks["statistic"]) == {"spa", "acc_eq"}
    assert ranking.tasks.groupby("language_pair")["n_segments"].first().to_dict() == {"aa-bb": 2, "cc-dd": 2}
    assert "campaigns with 2 segments (aa-bb), 2 segments (cc-dd)" in ranking.note
    assert "aa-bb: The unit is a single segment, because the set names no documents" in ranking.note
    assert mm.rank(pair, protocol="sentinels-segment", n_resamples=0).note == ""
    machines = mm.rank([es.select(systems=["A", "B"]) for es in pair], protocol="wmt24")
    assert machines.tasks.equals(ranking.tasks)
    assert not both.equals(ranking.tasks)
    assert mm.rank(pair, protocol="wmt25").tasks.equals(both)  # the annotation differs, which is the set's affair


def test_refusals_and_a_single_table_without_draws(pair):
    refuses("`protocol` must be one of 'wmt23', 'wmt24', 'wmt25', 'gemba-v2'", mm.rank, pair, protocol="wmt22")
    refuses("each language pair may occur once", mm.rank, [pair[0], pair[0]])
    refuses("unknown metric in set 'two': 'only_here'", mm.rank, pair, metrics=["only_here"])
    refuses("two rated systems", mm.rank, pair[0].select(systems=["A"]), protocol="wmt23")
    refuses("`n_resamples` must be at least 0", mm.rank, pair, n_resamples=-1)
    ranking = mm.rank(pair[0].to_frame(), protocol="wmt24", n_resamples=0)
    assert ranking.table["metric"].tolist()
    assert ranking.table.columns.tolist() == ["metric", "score", "rank"]
    assert ranking.p_values is None


def noisy(seed, name, pair):
    """Three metrics: the human score plus little, as little, and much noise."""
    rng = np.random.default_rng(seed)
    human = -rng.integers(0, 6, (6, 60)) + 0.5 * np.arange(6)[:, None]
    metrics = {m: human + s * rng.normal(size=human.shape) for m, s in (("a", 1), ("b", 1), ("z", 9))}
    return mm.EvalSet(human, metrics, systems=list("ABCDEF"), name=name, about={"language_pair": pair})


@pytest.mark.parametrize("protocol", ["wmt23", "wmt24", "sentinels-segment", "sentinels-pearson-grouped"])
def test_both_tests_tell_noise_from_metrics(protocol):
    sets = [noisy(0, "one", "aa-bb"), noisy(1, "two", "cc-dd")]
    published = mm.rank(sets, protocol=protocol, method="published", n_resamples=100)
    assert published.table.set_index("metric")["cluster"].to_dict() == {"a": 1, "b": 1, "z": 2}
    assert published.p_values.index.tolist() == published.table["metric"].tolist()
    assert "method:published|draws:100" in published.signature
    ranking = mm.rank(sets, protocol=protocol, n_resamples=100)
    sets_of_ranks = ranking.table.set_index("metric")[["best_rank", "worst_rank"]]
    assert sets_of_ranks.T.to_dict("list") == {"a": [1, 2], "b": [1, 2], "z": [3, 3]}
    assert "method:exchange|aa-bb:60 segments|cc-dd:60 segments|draws:100" in ranking.signature


def test_p_values_of_the_average_by_the_obvious_road():
    """One task of weight 1 on one set: the average is the task, and so are its p-values."""
    es = noisy(2, "one", "aa-bb")
    for method in ("exchange", "published"):
        options = {"method": method, "n_resamples": 200, "rng": 5}
        ranking = mm.rank(es, protocol="sentinels-pearson-grouped", **options)
        comparison = mm.compare(es, grouping="segment", **options)
        assert ranking.p_values.equals(comparison.p_values)
        decided = ["rank", "best_rank", "worst_rank"] if method == "exchange" else ["rank", "cluster"]
        assert ranking.table[decided].equals(comparison.table[decided])


ACCURACY = ("pairwise_accuracy", "system")


class EverySwap:
    """Stands for a generator: over the sets of a pool, the draws are all ways to swap their systems, once each."""

    def __init__(self, n_systems):
        self.ways, self.used = np.array([*itertools.product((0, 1), repeat=n_systems)]), 0

    def integers(self, low, high, size, dtype):
        assert (low, high, size[0]) == (0, 2, len(self.ways))
        self.used += size[1]
        return self.ways[:, self.used - size[1] : self.used].astype(dtype)


def test_the_published_test_of_pooled_accuracy_standardises_once_over_all_systems(monkeypatch):
    """Counted by hand: a is right on all pairs, b on none of the second set; a scores that set 100 higher."""
    a, b = [[0, 1, 2, 3], [100, 101, 102, 103]], [[1, 0, 3, 2], [3, 2, 1, 0]]
    sets = [
        mm.EvalSet(np.c_[:4], {"a": np.c_[a[k]], "b": np.c_[b[k]]}, systems=list("ABCD"), name=pair)
        for k, pair in enumerate(("one", "two"))
    ]
    gap = float(-np.diff(mm.pairwise_accuracy(sets)["value"])[0])
    options = {"level": "system", "n_resamples": 256, "rng": EverySwap(8)}
    (draws,) = significance.published.null_differences(sets, ["a", "b"], ACCURACY[0], **options)
    assert (draws >= gap - 1e-12).sum() == 5
    monkeypatch.setitem(protocols.PROTOCOLS, "accuracy", protocols.Protocol((protocols.Task(*ACCURACY, pooled=True),)))
    p = mm.rank(sets, protocol="accuracy", method="published", n_resamples=4000).p_values.loc["a", "b"]
    assert p == pytest.approx(5 / 256, abs=4 * np.sqrt(5 / 256 / 4000))


@pytest.mark.data
def test_the_published_test_of_pooled_accuracy_gives_the_values_of_mt_metrics_eval():
    """On WMT23, where mt-metrics-eval draws 1,000 times."""
    pairs = {("XCOMET-XXL", "MetricX-23"): 0.203, ("GEMBA-MQM", "BLEURT-20"): 0.112}
    sets = mm.load_all("wmt23", metrics=[name for pair in pairs for name in pair])
    for (better, worse), published in pairs.items():
        values = mm.pairwise_accuracy(sets, [better, worse])["value"]
        options = {"level": "system", "n_resamples": 10_000, "rng": np.random.default_rng(0)}
        (draws,) = significance.published.null_differences(sets, [better, worse], ACCURACY[0], **options)
        p = (draws >= values[0] - values[1] - 1e-12).mean()
        assert p == pytest.approx(published, abs=4 * np.sqrt(published * (1 - published) / 1000))


def test_ties_of_spa_are_counted_as_asked_in_the_published_test():
    rng = np.random.default_rng(3)
    human, *scores = rng.integers(0, 3, size=(3, 3, 3))
    es = mm.EvalSet(human, dict(zip("ab", scores, strict=True)), systems=list("ABC"))
    rng = np.random.default_rng(7)
    masks = [rng.integers(0, 2, size=(3, 3), dtype=np.uint8).astype(bool) for _ in range(40)]
    for ties in ("half", "published"):
        spa = mm.soft_pairwise_accuracy(es, ties=ties).set_index("metric")["value"]
        first, second = sorted(spa.index, key=lambda name: (-spa[name], name))
        options = {"level": "system", "n_resamples": 40, "rng": np.random.default_rng(7), "ties": ties}
        draws = significance.published.null_differences([es], [first, second], "spa", **options)
        x, y = ((es[m] - es[m].mean()) / es[m].std() for m in (first, second))
        for value, mask in zip(draws[0], masks, strict=True):
            hybrids = mm.EvalSet(human, {"x": np.where(mask, y, x), "y": np.where(mask, x, y)}, systems=es.systems)
            x_spa, y_spa = mm.soft_pairwise_accuracy(hybrids, ties=ties)["value"]
            assert value == pytest.approx(x_spa - y_spa, abs=1e-12)
        if ties == "half":
            found = mm.compare(es, coefficient="spa", method="published", n_resamples=40, rng=7)
            assert found.table.set_index("metric")["value"].to_dict() == spa.to_dict()
            np.testing.assert_array_equal(draws, found.draws)


def outlying():
    """Return a set whose human translator decides everything: with it `odd` is first, without it negative."""
    human, odd = [[0], [0.1], [0.2], [0.3], [5]], [[4], [3], [2], [1], [9]]
    metrics = {"odd": odd, "plain": [[0], [0.1], [0.2], [0.3], [0.4]]}
    return mm.EvalSet(human, metrics, systems=[*"ABCD", "Human-B"], about={"human_systems": ["Human-B"]})


def test_systems_are_left_out_one_by_one_and_one_that_decides_is_named():
    es = outlying()
    found = protocols.without_each_system(es, None, "wmt23")
    assert set(found["task"]) == {"system pearson", "system pairwise_accuracy"}
    assert len(found) == 2 * 5 * 2
    assert found.groupby("system")["human"].first().to_dict() == dict.fromkeys("ABCD", False) | {"Human-B": True}
    for row in found.query("task == 'system pearson'").itertuples():
        kept = es.system_scores.drop(row.system)
        assert row.value == pytest.approx(np.corrcoef(es.human.ravel(), es[row.metric].ravel())[0, 1])
        assert row.without == pytest.approx(np.corrcoef(kept["human"], kept[row.metric])[0, 1])
    assert protocols.without_each_system(es, None, "gemba-v2")["system"].tolist() == [*"AABBCCDD"]
    sets = [noisy(0, "one", "aa-bb"), noisy(1, "two", "cc-dd")]
    for statistic, ties in (("spa", "half"), ("spa", "published"), ("pairwise_accuracy", "half")):
        task = protocols.Task(statistic, "system", pooled=True)
        for row in protocols.without_each_system(sets, ["a", "z"], task, ties=ties).itertuples():
            rest = [es.select(systems=[s for s in es.systems if (es.name, s) != (row.set, row.system)]) for es in sets]
            values = [task.values(group, [row.metric], ties=ties)[0] for group in (sets, rest)]
            assert [row.value, row.without] == pytest.approx(values, abs=1e-12)
    assert protocols.without_each_system(es.select(systems=[*"ABC"]), None, "wmt23").empty
    assert protocols.without_each_system(es, None, "sentinels-pearson").empty
    es = outlying()
    said = protocols.decided_by_one(protocols.without_each_system(es, es.metrics, protocols.Task("pearson", "system")))
    r = {m: np.corrcoef(es.human.ravel(), es[m].ravel())[0, 1] for m in es.metrics}
    assert said == [
        "Human-B (a human translation) alone decides over the sign of system pearson: "
        f"odd ({r['odd']:+.2f} with it, -1.00 without)",
        f"odd is first by system pearson ({r['odd']:.3f}); but without Human-B (a human translation) plain is "
        "(1.000, against -1.000)",
    ]
    machines, task = es.select(systems=[*"ABCD"]), protocols.Task("pearson", "system")
    assert protocols.decided_by_one(protocols.without_each_system(machines, machines.metrics, task)) == []
