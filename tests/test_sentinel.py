"""Sentinels: what they may see, what they learn, and that they come back as they were saved."""

import json

import numpy as np
import pandas as pd
import pytest

import mtmeta as mm
from mtmeta import sentinel
from mtmeta.sentinel import LightConfig

LIGHT_SEES = list(sentinel.SEES)


@pytest.fixture(scope="module")
def es() -> mm.EvalSet:
    return mm.load("teaching")


@pytest.fixture(scope="module")
def frame(es) -> pd.DataFrame:
    return sentinel.training_frame(es.select(segments=es.segments[:150]))


@pytest.fixture(scope="module")
def light(frame) -> dict[str, sentinel.Sentinel]:
    return {sees: sentinel.fit(frame, sees=sees) for sees in LIGHT_SEES}


def made_up(n: int = 60) -> pd.DataFrame:
    """Return rows whose score is minus the number of letters a in the translation."""
    texts = ["a" * (i % 7) + "b" * (i % 5) + chr(ord("c") + i % 11) + " end" for i in range(n)]
    human = [-float(i % 7) for i in range(n)]
    return pd.DataFrame({"source": [f"source {i}" for i in range(n)], "translation": texts, "human": human})


# -- tables ------------------------------------------------------------------------------


def test_training_frame_by_hand():
    texts = mm.Texts(("s1", "s2"), {"refA": ("r1", "r2"), "refB": ("x", "y")}, {"A": ("a1", "a2"), "B": ("b1", "b2")})
    es = mm.EvalSet([[0, -4], [-2, np.nan]], {}, systems=["A", "B"], name="x", language_pair="de-en", texts=texts)
    found = sentinel.training_frame(es)
    # mean -2, standard deviation sqrt((4 + 4 + 0) / 3)
    unit = 2 / np.sqrt(8 / 3)
    np.testing.assert_allclose(found.pop("human"), [unit, -unit, 0])
    assert found.to_dict("list") == {
        "set": ["x"] * 3,
        "lp": ["de-en"] * 3,
        "system": ["A", "A", "B"],
        "segment": [1, 2, 1],
        "source": ["s1", "s2", "s1"],
        "reference": ["r1", "r2", "r1"],
        "translation": ["a1", "a2", "b1"],
    }
    assert sentinel.training_frame(es, standardise="none")["human"].tolist() == [0, -4, -2]


def test_training_frame_standardises_each_set(es):
    halves = [es.select(segments=es.segments[:150]), es.select(segments=es.segments[150:])]
    found = sentinel.training_frame(halves)
    for part in (found.iloc[:1800], found.iloc[1800:]):
        assert part["human"].mean() == pytest.approx(0, abs=1e-12)
        assert part["human"].std(ddof=0) == pytest.approx(1)


def test_training_frame_refuses_what_cannot_be_trained_on(es):
    with pytest.raises(ValueError, match="at least one set"):
        sentinel.training_frame([])
    bare = mm.EvalSet([[0, 1]], {}, systems=["A"], name="bare")
    with pytest.raises(ValueError, match="'bare' has no texts"):
        sentinel.training_frame([es, bare])
    flat = mm.EvalSet([[1, 1]], {}, systems=["A"], texts=mm.Texts(("a", "b")))
    with pytest.raises(ValueError, match="every human score is 1"):
        sentinel.training_frame(flat)
    with pytest.raises(ValueError, match="`standardise` must be one of 'set', 'none'; found 'lp'"):
        sentinel.training_frame(es, standardise="lp")


def test_overlap_is_found_after_normalisation():
    train = pd.DataFrame({"source": ["Ｇuten  Tag.", "Neu"], "translation": ["GOOD DAY.", "New"]})
    texts = mm.Texts(("guten tag.", "Anders"), {"refA": ("good day.", "Other")}, {"A": ("good\tday.", "New!")})
    found = sentinel.find_overlap(train, mm.EvalSet([[0, 1]], {}, systems=["A"], texts=texts))
    assert found.to_dict("records") == [
        {
            "text": "guten tag.",
            "test_role": "source",
            "train_role": "source",
            "n_test": 1,
            "n_train": 1,
            "n_characters": 10,
        },
        {
            "text": "good day.",
            "test_role": "reference+translation",
            "train_role": "translation",
            "n_test": 2,
            "n_train": 1,
            "n_characters": 9,
        },
    ]
    nothing = sentinel.find_overlap(train, pd.DataFrame({"source": ["Anderes"]}))
    assert nothing.empty
    assert nothing.columns.tolist() == found.columns.tolist()
    with pytest.raises(ValueError, match="the test set has no text"):
        sentinel.find_overlap(train, pd.DataFrame({"human": [1]}))


def test_table_with_the_names_of_comet_is_read(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("src\tmt\tref\tscore\tlp\nnull\t\tr\t0.5\tde-en\nb\tNA\tr\t\tde-en\n", encoding="utf-8-sig")
    found = sentinel.read_table(path)
    assert found.columns.tolist() == ["source", "translation", "reference", "human", "lp"]
    assert found["source"].tolist() == ["null", "b"]
    assert found["translation"].tolist() == ["", "NA"]
    assert found["human"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot be read as a table"),
        ("src,source\na,b\n", "all mean 'source'"),
        ("src,score\na,good\n", r"the score 'good' in data row 1 is not a number"),
        ("src,score\na,1\nb,2,3,4\n", "cannot be read as a table"),
        (b"src\n\xff\n", "not UTF-8"),
    ],
)
def test_table_that_cannot_be_read(tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=message):
        sentinel.read_table(path)


def changed(**columns) -> pd.DataFrame:
    return made_up().assign(**columns)


BAD_FRAMES = [
    (made_up().drop(columns="human"), ValueError, "lacks the column 'human'"),
    (made_up().drop(columns="translation"), ValueError, "lacks the column 'translation'"),
    (made_up().rename(columns={"translation": "mt"}), ValueError, "Rename 'mt' to 'translation'"),
    (made_up().rename(columns={"human": "score"}), ValueError, "Rename 'score' to 'human'"),
    (made_up().head(0), ValueError, "no rows"),
    (made_up(9), ValueError, "at least 10 distinct texts .* has 9 in 9 rows"),
    (changed(translation="same"), ValueError, "has 1 in 60 rows"),
    (changed(human=2.5), ValueError, "every human score is 2.5"),
    (changed(human=[*range(59), None]), ValueError, r"found nan in data row 60 \(1 such rows\)"),
    (changed(human=[*range(59), np.inf]), ValueError, "found inf in data row 60"),
    (changed(human=[*range(59), "bad"]), ValueError, "found 'bad' in data row 60"),
    (changed(translation=[*map(str, range(59)), None]), ValueError, "no text in 1 of 60 rows, first in data row 60"),
    (changed(translation=[*map(str, range(59)), 7]), TypeError, "found int at position 59"),
    ({"translation": ["a"]}, TypeError, "must be a DataFrame"),
    ([], TypeError, "non-empty list"),
    ([made_up(), [1]], TypeError, "expected a pandas DataFrame; found list"),
]


@pytest.mark.parametrize(("frame", "kind", "message"), BAD_FRAMES, ids=[m for *_, m in BAD_FRAMES])
def test_frame_that_cannot_be_learnt_from(frame, kind, message):
    with pytest.raises(kind, match=message):
        sentinel.fit(frame, sees="candidate")


def test_empty_translation_is_a_translation_but_an_empty_source_is_missing():
    sentinel.fit(changed(translation=["", *map(str, range(59))]), sees="candidate")
    with pytest.raises(ValueError, match="column 'source' has no text in 1 of 60 rows"):
        sentinel.fit(changed(source=[" ", *map(str, range(59))]), sees="source")


def test_options_are_checked(frame):
    with pytest.raises(ValueError, match="`sees` must be one of 'source', 'candidate', 'reference'; found 'both'"):
        sentinel.fit(frame, sees="both")
    with pytest.raises(ValueError, match="`kind` must be one of 'light', 'transformer'; found 'heavy'"):
        sentinel.fit(frame, sees="source", kind="heavy")
    with pytest.raises(TypeError, match="takes a LightConfig; found dict"):
        sentinel.fit(frame, sees="source", config={})
    with pytest.raises(ValueError, match="`validation` goes only with kind='transformer'"):
        sentinel.fit(frame, sees="source", validation=frame)
    for options in ({"ngrams": (0, 2)}, {"ngrams": (3, 2)}, {"folds": 1}, {"alphas": ()}, {"alphas": (0.0,)}):
        with pytest.raises(ValueError, match=next(iter(options))):
            LightConfig(**options)


# -- light -------------------------------------------------------------------------------


def test_light_learns_what_there_is_to_learn():
    found = sentinel.fit(made_up(), sees="candidate")
    scores = found.score(made_up()["translation"])
    assert np.corrcoef(scores, made_up()["human"])[0, 1] > 0.95
    assert found.score(["aaaaaa end"])[0] < found.score(["bbbbbb end"])[0]


def test_light_is_the_ridge_of_all_rows(frame):
    # Equal texts are merged before the fit; here the same regression on all rows, by the normal equations.
    config = LightConfig(ngrams=(1, 2), max_features=50, alphas=(10.0,))
    found = sentinel.fit(frame, sees="source", config=config)
    merged = frame.drop_duplicates("source")["source"].tolist()
    ngrams = found._vectoriser.transform(merged).toarray()
    shape = (sentinel._light.shape_of(merged) - found._state["mean"]) / found._state["scale"]
    features = pd.DataFrame(np.hstack([ngrams, shape]), index=merged).loc[frame["source"]].to_numpy()
    centred = features - features.mean(axis=0)
    y = frame["human"].to_numpy()
    weights = np.linalg.solve(centred.T @ centred + 10 * np.eye(centred.shape[1]), centred.T @ (y - y.mean()))
    expected = centred @ weights + y.mean()
    np.testing.assert_allclose(found.score(frame["source"]), expected, atol=1e-6)


def test_light_takes_the_penalty_with_the_smallest_error(light):
    table = light["source"].validation
    assert table["alpha"].tolist() == list(LightConfig().alphas)
    assert light["source"].alpha == table.loc[table["mse"].idxmin(), "alpha"]
    assert table["pearson"].between(-1, 1).all()


def test_no_source_is_on_both_sides_of_a_validation_fold():
    # Scores that belong to the source alone, at random: only one who has seen the source can know them.
    rng = np.random.default_rng(0)
    sources = np.repeat([f"{i:03d} {'xyz'[i % 3]}" for i in range(60)], 8)
    texts = [f"{source} v{k % 8}" for k, source in enumerate(sources)]
    human = np.repeat(rng.normal(size=60), 8)
    frame = pd.DataFrame({"source": sources, "translation": texts, "human": human})
    leaky = frame.assign(source=[f"row {i}" for i in range(len(frame))])
    best = {
        name: sentinel.fit(table, sees="candidate").validation["pearson"].max()
        for name, table in {"grouped": frame, "leaky": leaky}.items()
    }
    assert best["leaky"] > 0.9
    assert best["grouped"] < 0.4


def test_light_is_deterministic(frame, light):
    again = sentinel.fit(frame, sees="candidate")
    texts = frame["translation"].tolist()
    assert (again.score(texts) == light["candidate"].score(texts)).all()
    assert again.signature == light["candidate"].signature


def test_stages_of_a_light_sentinel_are_one_table(frame):
    pooled = sentinel.fit(frame, sees="source").score(frame["source"])
    staged = sentinel.fit([frame.iloc[:600], frame.iloc[600:]], sees="source").score(frame["source"])
    assert (pooled == staged).all()


def test_score_of_a_text_does_not_depend_on_its_neighbours(frame, light):
    texts = frame["translation"].unique().tolist()
    together = light["candidate"].score(texts)
    assert (together[:20] == [light["candidate"].score([t])[0] for t in texts[:20]]).all()
    assert (light["candidate"].score(texts[::-1]) == together[::-1]).all()
    assert light["candidate"].score([]).shape == (0,)


@pytest.mark.parametrize("sees", LIGHT_SEES)
def test_light_comes_back_as_it_was_saved(light, frame, tmp_path, sees):
    light[sees].save(tmp_path / "s")
    again = mm.sentinel.load(tmp_path / "s")
    assert (again.score_frame(frame) == light[sees].score_frame(frame)).all()
    assert again.signature == light[sees].signature
    assert again.config == light[sees].config
    pd.testing.assert_frame_equal(again.validation, light[sees].validation)
    pd.testing.assert_frame_equal(again.features(), light[sees].features())
    assert sorted(p.name for p in (tmp_path / "s").iterdir()) == ["sentinel.json", "weights.npz"]


def test_saving_spares_other_files(light, tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ValueError, match="holds other files"):
        light["source"].save(tmp_path)
    with pytest.raises(ValueError, match="is a file"):
        light["source"].save(tmp_path / "thesis.tex")
    light["source"].save(tmp_path / "new")
    light["candidate"].save(tmp_path / "new")
    assert sentinel.load(tmp_path / "new").sees == "candidate"


def test_damaged_folder_is_refused(light, tmp_path):
    with pytest.raises(ValueError, match=r"there is no sentinel\.json"):
        sentinel.load(tmp_path)
    light["source"].save(tmp_path)
    card = json.loads((tmp_path / "sentinel.json").read_text())
    for change in ({"format": 2}, {"kind": "heavy"}, {"sees": "both"}):
        (tmp_path / "sentinel.json").write_text(json.dumps(card | change))
        with pytest.raises(ValueError, match="another version"):
            sentinel.load(tmp_path)
    for text in ("{", "[]", '{"format": 1}'):
        (tmp_path / "sentinel.json").write_text(text)
        with pytest.raises(ValueError, match="damaged"):
            sentinel.load(tmp_path)
    (tmp_path / "sentinel.json").write_text(json.dumps(card | {"ngrams": card["ngrams"][:-1]}))
    with pytest.raises(ValueError, match="damaged"):
        sentinel.load(tmp_path)
    (tmp_path / "sentinel.json").write_text(json.dumps(card))
    np.savez(tmp_path / "weights.npz", idf=np.array([object()]))
    with pytest.raises(ValueError, match="damaged"):
        sentinel.load(tmp_path)


def test_features_tell_what_was_learnt():
    table = sentinel.fit(made_up(), sees="candidate").features()
    assert table.columns.tolist() == ["feature", "kind", "weight", "spread"]
    assert table["spread"].is_monotonic_decreasing
    assert table.query("feature == 'a'")["weight"].iloc[0] < 0
    assert set(table.query("kind == 'shape'")["feature"]) == set(sentinel._light.SHAPE)


# -- what a sentinel may see -------------------------------------------------------------


@pytest.mark.parametrize("sees", ["source", "reference"])
def test_blind_sentinel_is_constant_within_segments(light, es, sees):
    scores = light[sees].score_set(es)
    assert scores.shape == es.shape
    assert (scores == scores[0]).all()
    assert len(np.unique(scores[0])) > 100
    blind = es.with_metrics({"S": scores})
    for coefficient in ("pearson", "kendall"):
        assert mm.correlate(blind, coefficient=coefficient).value[0] == 0
    assert mm.correlate(blind, coefficient="acc_eq").value[0] == pytest.approx(mm.ties.human_tie_share(es))


def test_blind_sentinel_correlates_without_grouping(light, es):
    unseen = es.select(segments=es.segments[150:])
    scored = unseen.with_metrics({"S": light["source"].score_set(unseen)})
    assert mm.correlate(scored, grouping="none").value[0] > 0.2


def test_shuffled_candidates_teach_the_segment_only():
    # Planted: a long source is hard (between segments), and a "zz" is an error (within).
    rng = np.random.default_rng(5)
    n_systems, n_segments = 8, 120
    sources = tuple("ab " * int(n) for n in rng.integers(1, 40, n_segments))
    wrong = rng.random((n_systems, n_segments)) < 0.4
    human = -np.array([len(s) / 30 for s in sources]) - wrong
    translations = {
        f"S{i}": tuple(s + "zz" * int(w) for s, w in zip(sources, wrong[i], strict=True)) for i in range(n_systems)
    }
    es = mm.EvalSet(human, {}, systems=list(translations), texts=mm.Texts(sources, {}, translations))
    frame = sentinel.training_frame(es)
    shuffled = frame.assign(human=frame.groupby("segment")["human"].transform(lambda h: rng.permutation(h.to_numpy())))
    # A correlation within segments has no scale: any small weight of the error would make it 1 or -1.
    effect, pooled = {}, {}
    for name, table in {"true": frame, "shuffled": shuffled}.items():
        found = sentinel.fit(table, sees="candidate")
        effect[name] = np.mean(found.score([s + "zz" for s in sources]) - found.score(sources))
        pooled[name] = mm.correlate(es.with_metrics({"S": found.score_set(es)}), grouping="none").value[0]
    assert effect["true"] == pytest.approx(-1 / human.std(), rel=0.1)
    assert abs(effect["shuffled"]) < 0.2 * abs(effect["true"])
    assert pooled["true"] > pooled["shuffled"] > 0.5


def test_set_is_scored_text_by_text(light):
    texts = mm.Texts(
        ("eins", "zwei"), {"refA": ("one", "two"), "refB": ("1", "2")}, {"A": ("one", None), "B": ("x", "one")}
    )
    es = mm.EvalSet([[0, 1], [1, 0], [1, 1]], {}, systems=["A", "B", "C"], texts=texts)
    one, x = light["candidate"].score(["one", "x"])
    expected = [[one, np.nan], [x, one], [np.nan, np.nan]]
    np.testing.assert_array_equal(light["candidate"].score_set(es), expected)
    np.testing.assert_array_equal(light["reference"].score_set(es)[2], light["reference"].score(["one", "two"]))
    second = light["reference"].score_set(es, reference="refB")
    np.testing.assert_array_equal(second[0], light["reference"].score(["1", "2"]))
    with pytest.raises(ValueError, match="unknown reference 'refC'"):
        light["reference"].score_set(es, reference="refC")
    with pytest.raises(ValueError, match="this one sees the source"):
        light["source"].score_set(es, reference="refA")


def test_set_without_the_text_is_refused(light):
    bare = mm.EvalSet([[0, 1]], {}, systems=["A"], name="bare")
    with pytest.raises(ValueError, match="'bare' has no texts"):
        light["source"].score_set(bare)
    half = mm.EvalSet([[0, 1]], {}, systems=["A"], name="half", texts=mm.Texts(("a", "b")))
    for sees, column in (("candidate", "translation"), ("reference", "reference")):
        with pytest.raises(ValueError, match=f"'half' has no {column} texts"):
            light[sees].score_set(half)
    with pytest.raises(TypeError, match="expected an EvalSet"):
        light["source"].score_set(pd.DataFrame())


def test_texts_are_checked(light):
    with pytest.raises(TypeError, match="found the string 'text'"):
        light["source"].score("text")
    for missing in (None, np.nan, pd.NA):
        with pytest.raises(ValueError, match="position 1 is missing"):
            light["source"].score(["a", missing])
    with pytest.raises(TypeError, match="found int at position 0"):
        light["source"].score([1])
