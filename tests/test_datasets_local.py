"""Transcripts and rankings: hand-made files, recommenders on ratings small enough to check, then the real data."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from mtmeta.datasets import _ranking, _recommenders, load, load_all, train_recommenders
from mtmeta.datasets._recommenders import ALGORITHMS, _Split, _Training

REFERENCES = "7-1-0001\tb c\t[]\n7-1-0000\ta b\t[]\n61-2-0000\td\t[]\n"
TRANSCRIPTS = "7-1-0000\ta\n61-2-0000\t\n7-1-0001\tb c\n"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Return an empty data directory, with an empty cache beside it."""
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("MTMETA_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("MTMETA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "data"


# -- transcripts ------------------------------------------------------------------------------


@pytest.fixture
def librispeech(places):
    folder = places / "librispeech-rnnt"
    write(folder / "ref/test-clean.ref_rare.tsv", REFERENCES)
    write(folder / "ref/test-other.ref_rare.tsv", "9-9-0000\tx y\t[]\n")
    write(folder / "hyp/test-clean.b1.base.tsv", TRANSCRIPTS)
    write(folder / "hyp/test-clean.s1.more_100.tsv", TRANSCRIPTS.replace("\ta\n", "\ta b\n"))
    write(folder / "hyp/test-other.b1.base.tsv", "9-9-0000\tx\n")
    return folder


def test_transcripts_by_hand(librispeech):
    table = load("librispeech/test-clean")
    assert list(table) == ["system", "segment", "speaker", "quality", "reference", "transcript"]
    assert table.values.tolist() == [
        ["b1.base", "7-1-0000", "7", "clean", "a b", "a"],
        ["b1.base", "7-1-0001", "7", "clean", "b c", "b c"],
        ["b1.base", "61-2-0000", "61", "clean", "d", ""],
        ["s1.more_100", "7-1-0000", "7", "clean", "a b", "a b"],
        ["s1.more_100", "7-1-0001", "7", "clean", "b c", "b c"],
        ["s1.more_100", "61-2-0000", "61", "clean", "d", ""],
    ]
    both = load_all("librispeech")
    assert [t["quality"].unique().tolist() for t in both] == [["clean"], ["other"]]
    assert [t.attrs["name"] for t in both] == ["librispeech/test-clean", "librispeech/test-other"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TRANSCRIPTS.replace("7-1-0001\tb c\n", ""), r"lacks 1 of 3 utterances, such as '7-1-0001'"),
        (TRANSCRIPTS + "8-1-0000\tx\n", r"has unknown 1 of 3 utterances, such as '8-1-0000'"),
        (TRANSCRIPTS + "7-1-0000\tx\n", r"line 4: utterance '7-1-0000' occurs twice"),
        (TRANSCRIPTS + "7-1", r"line 4: expected 2 tab-separated fields"),
        ("", r"lacks 3 of 3 utterances"),
    ],
)
def test_damaged_transcripts(librispeech, text, message):
    write(librispeech / "hyp/test-clean.b1.base.tsv", text)
    with pytest.raises(ValueError, match=message):
        load("librispeech/test-clean")


def test_missing_transcripts(librispeech):
    (librispeech / "hyp/test-other.b1.base.tsv").unlink()
    with pytest.raises(ValueError, match=r"has no transcripts test-other"):
        load("librispeech/test-other")


# -- names and options ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("librispeech", r"holds 2 parts: librispeech/test-clean, librispeech/test-other"),
        ("librispeech/clean", r"unknown part of librispeech 'clean'. Did you mean 'test-clean'"),
        ("movielens-small/100k", r"unknown part of movielens-small '100k'"),
        ("dl-hard/docs", r"unknown task of dl-hard 'docs'. Did you mean 'doc'"),
        ("teaching-speech/clean", r"unknown part of teaching-speech 'clean'"),
        ("teaching-speach", r"Did you mean 'teaching-speech'\? Sets: .*librispeech/<part>, .*movielens-small"),
        ("dl-hard/doc", r"not on this computer.*mtmeta fetch dl-hard`"),
        ("movielens-small", r"not on this computer.*mtmeta fetch movielens-small`"),
    ],
)
def test_names(librispeech, name, message):
    with pytest.raises(ValueError, match=message):
        load(name)


@pytest.mark.parametrize("name", ["librispeech/test-clean", "teaching-speech", "teaching-ranking"])
@pytest.mark.parametrize("option", [{"metrics": ["X"]}, {"reference": "refA"}, {"spans": True}, {"missing": "nan"}])
def test_options_of_translations_are_refused(librispeech, name, option):
    with pytest.raises(ValueError, match=rf"`{next(iter(option))}` does not apply to .*Leave it out"):
        load(name, **option)


# -- own tables of transcripts and lists --------------------------------------------------------

SPOKEN = """system,segment,reference,transcript,speaker,quality
A,1,na,na,S1,clean
A,2,two words,,S2,other
B,1,na,nah,S1,clean
B,2,two words,to words,S2,other
"""
RANKED = """system,query,item,rank,relevance
A,q,x,1,
A,q,y,2,1
B,q,y,1,1
,q,z,,2
"""


def test_own_transcripts(tmp_path):
    (tmp_path / "a.csv").write_text(SPOKEN)
    (heard,) = load_all(tmp_path / "a.csv")
    assert heard["transcript"].tolist() == ["na", None, "nah", "to words"]  # "na" was said; an empty cell is no text
    assert heard["segment"].tolist() == [1, 2, 1, 2]
    assert load(tmp_path / "a.csv").equals(heard)


def test_own_lists(tmp_path):
    (tmp_path / "a.csv").write_text(RANKED)
    lists = load(tmp_path / "a.csv")
    assert lists.runs[["system", "item", "rank", "score"]].values.tolist() == [
        ["A", "x", 1, -1.0],
        ["A", "y", 2, -2.0],
        ["B", "y", 1, -1.0],
    ]
    assert lists.qrels.values.tolist() == [["q", "y", 1], ["q", "z", 2]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SPOKEN.replace("reference", "said"), r"a\.csv: the table of transcripts lacks reference"),
        (SPOKEN + "A,1,na,na,S1,clean\n", "1 row.* repeat a"),
        (SPOKEN.replace("A,1", ",1"), "column 'system' is empty in 1 rows"),
        (RANKED.replace("relevance", "grade"), r"needs system, query, item, rank and relevance"),
        (RANKED.replace("B,q,y,1,1", "B,q,y,1,2"), "judged"),
    ],
)
def test_own_tables_are_checked(tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        load(tmp_path / "a.csv")


def test_options_of_translations_are_refused_for_own_transcripts(tmp_path):
    (tmp_path / "a.csv").write_text(SPOKEN)
    with pytest.raises(ValueError, match="`metrics` does not apply to a table of transcripts"):
        load(tmp_path / "a.csv", metrics=["wer"])


# -- runs -------------------------------------------------------------------------------------


@pytest.fixture
def dl_hard(places):
    folder = places / "dl-hard"
    write(folder / "dl_hard-doc.qrels", "2 Q0 D1 3\n2 Q0 D7 0\n10 Q0 D2 1")
    write(
        folder / "runs_top100/doc.one(zs).run", "2 Q0 D1 0 1.5 T\n2 Q0 D9 1 2.5 T\n2 Q0 D10 2 2.5 T\n10 Q0 D2 0 -1 T\n"
    )
    write(folder / "runs_top100/doc.two.run", "2 Q0 D1 1 9e-1 T\n10 Q0 D2 1 7 T\n10\tQ0\tD3\t2\t3\tT\n")
    return folder


def test_runs_are_in_the_order_of_trec_eval(dl_hard):
    found = load("dl-hard/doc")
    # D9 and D10 tie: trec_eval puts the greater name, as a string, first; the rank in the file says nothing.
    assert found.runs.drop(columns="score").values.tolist() == [
        ["one(zs)", "2", "D9", 1],
        ["one(zs)", "2", "D10", 2],
        ["one(zs)", "2", "D1", 3],
        ["one(zs)", "10", "D2", 1],
        ["two", "2", "D1", 1],
        ["two", "10", "D2", 1],
        ["two", "10", "D3", 2],
    ]
    assert found.qrels.values.tolist() == [["2", "D1", 3], ["2", "D7", 0], ["10", "D2", 1]]
    assert found.to_frame()["relevance"].tolist() == [pd.NA, pd.NA, 3, 1, 3, 1, pd.NA]
    assert found.provenance["relevance_level"] == 2


def test_runs_are_cut_at_100():
    run = pd.DataFrame({"query": "q", "item": [f"d{i:03d}" for i in range(130)], "score": np.arange(130.0)})
    cut = _ranking.in_trec_order(run, "S")
    assert (len(cut), cut["rank"].max(), cut["item"].iloc[0], cut["item"].iloc[-1]) == (100, 100, "d129", "d030")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2 Q0 D1 1 0.5\n", r"line 1: expected `query Q0 item rank score tag`; found '2 Q0 D1 1 0.5'"),
        ("2 Q0 D1 1 high T\n10 Q0 D2 1 1 T\n", r"line 1: score must be a number; found 'high'"),
        ("2 Q0 D1 1 2 T\n2 Q0 D1 2 1 T\n10 Q0 D2 1 1 T\n", r"repeat .*'D1'\); an item stands once in a list"),
        ("2 Q0 D1 1 2 T\n", r"system 'two' has no list for 1 of 2 queries, such as '10'"),
        ("2 Q0 D1 1 2 T\n10 Q0 D2 1 1 T\n3 Q0 D2 1 1 T\n", r"no list for 1 of 3 queries, such as '3'"),
        ("\n", r"is empty; expected lines"),
    ],
)
def test_damaged_runs(dl_hard, text, message):
    write(dl_hard / "runs_top100/doc.two.run", text)
    with pytest.raises(ValueError, match=message):
        load("dl-hard/doc")


# -- recommenders -----------------------------------------------------------------------------

#: Users 0 and 1 like items 0 and 1, user 2 likes items 2 and 3, user 3 rated item 0 alone.
TASTES = np.array([[5, 4, 0, 0, 0], [4, 5, 0, 0, 3], [0, 0, 5, 4, 0], [5, 0, 0, 0, 0]], dtype=float)
NO_IMPLICIT = [n for n in ALGORITHMS if n not in _recommenders._NEED_IMPLICIT]


def scores(name, ratings=TASTES, seed=0):
    return np.asarray(ALGORITHMS[name][1](_Training(ratings, seed)), dtype=float)


def test_baselines_by_hand():
    assert scores("Popularity").tolist() == [[3, 2, 1, 1, 1]] * 4
    mean = 35 / 8
    expected = [(14 + 10 * mean) / 13, (9 + 10 * mean) / 12, (5 + 10 * mean) / 11]
    np.testing.assert_allclose(scores("MeanRating")[0, :3], expected)
    assert len(np.unique(scores("Random"))) == TASTES.size


def test_user_neighbours_by_hand():
    # cosines of user 3 with users 0, 1, 2: 5/sqrt(41), 4/sqrt(50), 0
    near, far = 5 / np.sqrt(41), 4 / np.sqrt(50)
    expected = [5 * near + 4 * far, 4 * near + 5 * far, 0, 0, 3 * far]
    np.testing.assert_allclose(scores("UserKNN")[3], expected, atol=1e-12)


def test_item_neighbours_by_hand():
    # user 3 rated item 0 alone, with 5: each item scores 5 times its cosine with item 0, and item 0 nothing
    norm = np.linalg.norm(TASTES, axis=0)
    cosine = TASTES[:, 0] @ TASTES / (norm * norm[0])
    np.testing.assert_allclose(scores("ItemKNN")[3], 5 * cosine * [0, 1, 1, 1, 1], atol=1e-12)


def test_item_neighbours_keep_the_nearest_only(monkeypatch):
    monkeypatch.setattr(_recommenders, "NEIGHBOURS", 1)
    norm = np.linalg.norm(TASTES, axis=0)
    # of item 0 the nearest is item 1 and the other way round, so item 4 gets what its nearest, item 1, was given
    row = scores("ItemKNN")[1]
    assert row[4] == pytest.approx(5 * TASTES[:, 4] @ TASTES[:, 1] / (norm[4] * norm[1]))


def test_term_selection_by_hand():
    # all three others are neighbours of user 3: their sums 9, 9, 5, 4, 3 of 30 ratings points; shares of all: /35
    sums, base = np.array([9, 9, 5, 4, 3.0]), np.array([14, 9, 5, 4, 3.0]) / 35
    p = sums / 30
    np.testing.assert_allclose(scores("Rocchio")[3], sums / 3)
    np.testing.assert_allclose(scores("RSV")[3], sums / 3 * (p - base))
    np.testing.assert_allclose(scores("CHI2")[3], (p - base) ** 2 / base)
    np.testing.assert_allclose(scores("KLD")[3], p * np.log(p / base))


def test_relevance_models_by_hand():
    base = TASTES.sum(axis=0) / 35
    p = 0.5 * TASTES[:3] / TASTES[:3].sum(axis=1, keepdims=True) + 0.5 * base
    np.testing.assert_allclose(np.diff(scores("RM1")[3]), np.diff(np.log(p[:, 0] @ p)))  # in proportion
    np.testing.assert_allclose(scores("RM2")[3], np.log(p.T @ p[:, 0]))
    # two rated items: products over them, inside the sum over neighbours or outside
    others = [1, 2, 3]
    q = 0.5 * TASTES[others] / TASTES[others].sum(axis=1, keepdims=True) + 0.5 * base
    np.testing.assert_allclose(np.diff(scores("RM1")[0]), np.diff(np.log((q[:, 0] * q[:, 1]) @ q)))
    np.testing.assert_allclose(scores("RM2")[0], np.log(q.T @ q[:, 0]) + np.log(q.T @ q[:, 1]))


def test_ease_is_the_closed_form_over_items():
    rng = np.random.default_rng(1)
    x = (rng.random((12, 7)) < 0.4).astype(float)
    inverse = np.linalg.inv(x.T @ x + 500 * np.eye(7))
    weights = np.eye(7) - inverse / np.diag(inverse)
    assert np.allclose(np.diag(weights), 0)
    np.testing.assert_allclose(scores("EASE", x * 4), x @ weights, atol=1e-12)


def test_random_walk_by_hand():
    x = (TASTES > 0).astype(float)
    steps = x / x.sum(axis=1, keepdims=True)
    back = x.T / x.sum(axis=0)[:, None]
    np.testing.assert_allclose(scores("RandomWalk"), steps @ back @ steps / x.sum(axis=0) ** 0.6)


def blocks(n=60, seed=0):
    """Return ratings of two groups of users, each of which rates the items of its own half, and likes them."""
    rng = np.random.default_rng(seed)
    there = rng.random((n, 40)) < 0.4
    there[: n // 2, 20:] = there[n // 2 :, :20] = False
    user, item = np.nonzero(there)
    return pd.DataFrame({"user": user, "item": item, "rating": rng.choice([4.0, 4.5, 5.0], len(user))})


@pytest.mark.parametrize("name", [n for n in ALGORITHMS if n not in ("Random", "Popularity", "MeanRating", "SVD")])
def test_every_personal_recommender_finds_the_two_groups(name, monkeypatch):
    monkeypatch.setattr(_recommenders, "NEIGHBOURS", 10)
    monkeypatch.setattr(_recommenders, "FACTORS", 4)
    if name in _recommenders._NEED_IMPLICIT:
        pytest.importorskip("implicit")
    found = train_recommenders(blocks(), [name], depth=5)
    own_half = (found.runs["query"].astype(int) < 30) == (found.runs["item"].astype(int) < 20)
    assert own_half.mean() > 0.9
    chance = train_recommenders(blocks(), ["Random"], depth=5).runs
    assert ((chance["query"].astype(int) < 30) == (chance["item"].astype(int) < 20)).mean() < 0.5


def test_svd_predicts_ratings():
    rng = np.random.default_rng(3)
    true = 3 + np.outer(rng.normal(0, 1, 80), rng.normal(0, 1, 50)).clip(-2, 2)
    seen = np.where(rng.random(true.shape) < 0.5, true, 0)
    hidden = seen == 0
    assert np.corrcoef(scores("SVD", seen)[hidden], true[hidden])[0, 1] > 0.8
    assert np.corrcoef(scores("MeanRating", seen)[hidden], true[hidden])[0, 1] < 0.5


def test_split_and_judgements():
    ratings = blocks()
    split = _Split.drawn(ratings.astype({"user": str, "item": str}), 0.2, 4.5, 0)
    n = ratings.groupby("user").size().to_numpy()
    assert ((split.test > 0).sum(axis=1) == np.round(0.2 * n)).all()
    assert ((split.test > 0) & (split.training > 0)).sum() == 0
    assert ((split.test > 0) | (split.training > 0)).sum() == len(ratings)
    found = train_recommenders(ratings, ["Random"], depth=3, relevant_from=4.5)
    table = ratings.astype({"user": str, "item": str}).merge(
        found.qrels, left_on=["user", "item"], right_on=["query", "item"]
    )
    assert len(table) == len(found.qrels)
    assert (table["relevance"] == table["rating"].map({4.0: 0, 4.5: 1, 5.0: 2})).all()
    without = 60 - len(found.queries)
    assert without > 0
    assert list(found.provenance["left_out"]) == [f"{without} users"]


def test_lists_have_no_item_of_the_training():
    ratings = blocks()
    split = _Split.drawn(ratings.astype({"user": str, "item": str}), 0.2, 4.0, 0)
    row, column = np.nonzero(split.training)
    seen = set(zip(split.users[row], split.items[column], strict=True))
    for name in ("Popularity", "UserKNN", "RM2"):
        runs = train_recommenders(ratings, [name], depth=15).runs
        assert not seen & set(zip(runs["query"], runs["item"], strict=True))
        assert runs.groupby("query").size().eq(15).all()


def test_seeds():
    given = [train_recommenders(blocks(), ["Random", "NMF"], depth=5, rng=rng).runs for rng in (1, 1, 2)]
    assert given[0].equals(given[1])
    assert not given[0].equals(given[2])
    generator = train_recommenders(blocks(), ["Random"], depth=5, rng=np.random.default_rng(1)).runs
    assert generator.equals(train_recommenders(blocks(), ["Random"], depth=5, rng=np.random.default_rng(1)).runs)


def test_without_implicit(monkeypatch):
    monkeypatch.setattr(_recommenders, "find_spec", lambda name: None)
    found = train_recommenders(blocks(30), depth=3)
    assert sorted(found.systems) == sorted(NO_IMPLICIT)
    assert len(NO_IMPLICIT) >= 10
    assert "mtmeta[recommend]" in found.provenance["left_out"]["BPRMF, WRMF"]
    with pytest.raises(ValueError, match=r"BPRMF needs the library implicit.*mtmeta\[recommend\]"):
        train_recommenders(blocks(30), ["BPRMF"], depth=3)


NOTEBOOK = """
import sys, types, warnings
sys.modules |= {"ipykernel.zmqshell": types.ModuleType("shell"), "ipywidgets": None}
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: None)
from mtmeta.datasets import _recommenders
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    IMPORT
print("tqdm.auto" in sys.modules, sum("IProgress" in str(w.message) for w in caught))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statement", "warned"), [("import implicit.cpu.als", 1), ("_recommenders._one_thread().__enter__()", 0)]
)
def test_no_warning_in_a_notebook_without_widgets(statement, warned):
    pytest.importorskip("implicit")
    code = NOTEBOOK.replace("IMPORT", statement)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", str(warned)], done.stderr[-500:]


RATINGS = pd.DataFrame({"user": [1, 1, 2, 2], "item": [1, 2, 1, 2], "rating": [5, 5, 5, 5]})


@pytest.mark.parametrize(
    ("ratings", "options", "error", "message"),
    [
        ([1], {}, TypeError, r"`ratings` must be a pandas DataFrame; found list"),
        (RATINGS.drop(columns="item"), {}, ValueError, r"lacks 'item'; found user, rating"),
        (RATINGS.assign(rating=[5, 0, 5, 5]), {}, ValueError, r"a rating above 0; found .* in data row 2"),
        (RATINGS.assign(rating=[5, 5, "x", 5]), {}, ValueError, r"in data row 3"),
        (RATINGS.assign(item=1), {}, ValueError, r"user '1' rates item '1' twice"),
        (RATINGS.iloc[:0], {}, ValueError, r"has no rows"),
        (RATINGS, {"algorithms": "Random"}, TypeError, r"Write \['Random'\]"),
        (RATINGS, {"algorithms": []}, ValueError, r"`algorithms` is empty"),
        (RATINGS, {"algorithms": ["UserKN"]}, ValueError, r"unknown algorithm 'UserKN'. Did you mean 'UserKNN'"),
        (RATINGS, {"depth": 0}, ValueError, r"`depth` must be at least 1"),
        (RATINGS, {"test_share": 1}, ValueError, r"`test_share` must lie between 0 and 1"),
        (RATINGS, {"relevant_from": np.nan}, ValueError, r"`relevant_from` must be a number"),
        (RATINGS, {"relevant_from": 6, "test_share": 0.5}, ValueError, r"no user has a held-out rating of 6 or more"),
        (blocks(), {"depth": 39}, ValueError, r"only \d+ items to rank; expected at least `depth`, 39"),
    ],
)
def test_bad_ratings_and_options(ratings, options, error, message):
    with pytest.raises(error, match=message):
        train_recommenders(ratings, **options)


@pytest.fixture
def movielens(places, monkeypatch):
    """Write a small set of ratings in the form of MovieLens; train two algorithms only."""
    table = blocks().rename(columns={"user": "userId", "item": "movieId"}).assign(timestamp=0)
    write(places / "movielens-latest-small/ratings.csv", table.to_csv(index=False))
    monkeypatch.setattr(_recommenders, "DEPTH", 5)
    monkeypatch.setattr(_recommenders, "ALGORITHMS", {n: ALGORITHMS[n] for n in ("Popularity", "UserKNN")})
    return places.parent / "cache" / "recommenders"


def test_movielens_is_trained_once(movielens, monkeypatch):
    first = load("movielens-small")
    assert first.name == "movielens-small"
    assert [p.suffix for p in movielens.iterdir()] == [".npz"]
    with monkeypatch.context() as patch:
        patch.setattr(_Split, "lists", lambda *_: pytest.fail("trained again"))
        second = load("movielens-small")
    assert first.runs.equals(second.runs)
    assert first.qrels.equals(second.qrels)
    direct = train_recommenders(blocks(), ["Popularity", "UserKNN"], depth=5)
    pd.testing.assert_frame_equal(first.runs, direct.runs)


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 cut", b"not an archive"])
def test_a_damaged_store_is_made_anew(movielens, damage):
    first = load("movielens-small")
    (stored,) = movielens.iterdir()
    whole = stored.read_bytes()
    stored.write_bytes(damage or whole[: len(whole) // 2])
    assert load("movielens-small").runs.equals(first.runs)
    assert stored.read_bytes() == whole


def test_other_ratings_are_stored_elsewhere(movielens, places):
    load("movielens-small")
    path = places / "movielens-latest-small/ratings.csv"
    path.write_text(path.read_text().replace("5.0", "4.5", 1))
    load("movielens-small")
    assert len(list(movielens.iterdir())) == 2


def test_a_cache_that_cannot_be_written_is_reported(movielens):
    movielens.parent.write_text("a file where the folder should be")
    with pytest.warns(UserWarning, match=r"could not be stored in .*MTMETA_CACHE"):
        assert load("movielens-small").systems == ("Popularity", "UserKNN")


def test_movielens_with_other_columns(movielens, places):
    write(places / "movielens-latest-small/ratings.csv", "user,item,rating\n1,2,3\n")
    with pytest.raises(ValueError, match=r"expected the columns userId,movieId,rating,timestamp; found 'user,item"):
        load("movielens-small")


# -- real data --------------------------------------------------------------------------------


@pytest.mark.data
def test_librispeech(data_dir):
    jiwer = pytest.importorskip("jiwer")
    tables = dict(zip(("test-clean", "test-other"), load_all("librispeech"), strict=True))
    assert [(t["system"].nunique(), t["segment"].nunique()) for t in tables.values()] == [(22, 2620), (22, 2939)]
    assert pd.concat(tables.values())["speaker"].nunique() == 73
    for part, table in tables.items():
        published = (data_dir / f"librispeech-rnnt/results/{part}.b1.rnnt_baseline.tsv.result").read_text()
        rate = float(published.partition("error_rate=")[2].partition(",")[0])
        base = table[table["system"] == "b1.rnnt_baseline"]
        assert 100 * jiwer.wer(base["reference"].tolist(), base["transcript"].tolist()) == pytest.approx(rate, abs=1e-9)


@pytest.mark.data
@pytest.mark.parametrize(("task", "n_systems"), [("doc", 14), ("passage", 6)])
def test_dl_hard(task, n_systems, data_dir):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    found = load(f"dl-hard/{task}")
    assert (len(found.systems), len(found.queries)) == (n_systems, 50)
    qrels = {q: dict(zip(g["item"], g["relevance"], strict=True)) for q, g in found.qrels.groupby("query")}
    measures = {"P.5,10,20,100", "recall.10,100", "ndcg_cut.5,10,20"}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, measures, relevance_level=found.provenance["relevance_level"])
    for system, runs in found.runs.groupby("system"):
        lines = (data_dir / f"dl-hard/evals/{task}.{system}.run.eval").read_text().splitlines()
        published = {tuple(line.split()[:2]): line.split()[-1] for line in lines}
        ranked = {q: dict(zip(g["item"], (-g["rank"]).astype(float), strict=True)) for q, g in runs.groupby("query")}
        ours = evaluator.evaluate(ranked)
        assert {(q, m) for q in ours for m, v in ours[q].items() if f"{v:.4f}" != published[m, q]} == set()


@pytest.mark.data
def test_movielens(data_dir, tmp_path, monkeypatch):
    monkeypatch.setenv("MTMETA_CACHE", str(tmp_path))
    light = ("Random", "Popularity", "UserKNN", "EASE")
    monkeypatch.setattr(_recommenders, "ALGORITHMS", {n: ALGORITHMS[n] for n in light})
    found = load("movielens-small")
    assert (len(found.systems), len(found.queries), found.runs["rank"].max()) == (4, 604, 100)
    relevant = found.to_frame()["relevance"].fillna(0) > 0
    hits = relevant.groupby(found.runs["system"]).sum()
    assert hits["Random"] < hits["Popularity"] < hits["UserKNN"] < hits["EASE"]


@pytest.mark.data
def test_threads_do_not_change_the_lists(data_dir):
    code = (
        "import pandas as pd; from mtmeta.datasets import train_recommenders as t;"
        f"r = pd.read_csv({str(data_dir / 'movielens-latest-small/ratings.csv')!r}).iloc[:30000];"
        "r = r.rename(columns={'userId': 'user', 'movieId': 'item'});"
        "print(pd.util.hash_pandas_object(t(r, ['UserKNN', 'PureSVD', 'NMF'], depth=20).runs).sum())"
    )
    variables = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    found = []
    for threads in ("1", "2"):
        environment = {**os.environ, **dict.fromkeys(variables, threads)}
        found.append(
            subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
        )
    assert found[0].stdout == found[1].stdout
    assert [done.stderr for done in found] == ["", ""]
