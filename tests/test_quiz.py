"""The quizzes: questions are whole, their numbers are recomputed, and the directives write HTML.

No number may stand in a question that its function in `FACTS` does not yield, and that `GIVEN` does not have.
"""

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import exact
import nbformat
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import metrics as detectors

import mtmeta as mm

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted((ROOT / "book" / "quiz").glob("*.md"))


@dataclass(frozen=True)
class Question:
    """What a question says; options are ``(is right, text, explanation)``."""

    name: str
    see: str
    text: str
    options: tuple[tuple[bool, str, str], ...]

    @property
    def all_text(self):
        return "\n".join([self.text, *(f"{option}\n{why}" for _, option, why in self.options)])

    def said(self, right):
        """Return the text and the explanation of the right or the wrong options."""
        return "\n".join(f"{option}\n{why}" for is_right, option, why in self.options if is_right == right)


def questions_of(text):
    found = []
    for title, block in re.findall(r"^::::\{question\} (.+?)\n(.*?)^::::$", text, flags=re.M | re.S):
        options = re.findall(r"^:::\{(right|wrong)\} (.+?)\n(.*?)^:::$", block, flags=re.M | re.S)
        given = dict(re.findall(r"^:(name|see): (.+)$", block, flags=re.M))
        body = re.sub(r"^:::\{.*", "", block, flags=re.M | re.S)
        body = re.sub(r"^:(?:name|see): .+$", "", body, flags=re.M)
        options = tuple((kind == "right", option, why.strip()) for kind, option, why in options)
        found.append(Question(given["name"], given["see"], f"{title}\n{body}", options))
    return found


QUESTIONS = [question for page in PAGES for question in questions_of(page.read_text(encoding="utf-8"))]
NAMES = [question.name for question in QUESTIONS]


def numbers(text):
    """Return the numbers of a text as it writes them; those in names and formulas are none."""
    text = re.sub(r"`[^`]*`|\$[^$]*\$|\b[A-Za-z][\w@+-]*\d\w*(?:@\d+)?|[A-Za-z]@\d+", " ", text)
    return set(re.findall(r"(?<![\w.])[-+]?(?:\d{1,3}(?:,\d{3})+|\d*\.?\d+)(?:/\d+)?", text))


@pytest.mark.parametrize("question", QUESTIONS, ids=NAMES)
def test_a_question_is_whole(question):
    assert 0 < sum(is_right for is_right, *_ in question.options) < len(question.options)
    assert len(question.options) >= 3
    assert [option for _, option, why in question.options if len(why.split()) < 5] == []
    assert len({option for _, option, _ in question.options}) == len(question.options)
    assert "?" in question.text.split("\n")[0]
    page, section = question.see.split("#")  # which explains it
    cells = nbformat.read(ROOT / f"{page}.ipynb", as_version=4).cells
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    headings = re.findall(r"^#{2,} (.+)$", text, flags=re.M)
    assert section in {re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-") for heading in headings}


def earned(choose, questions):
    """Return how many standard errors a rule for choosing earns above guessing, where one option is right."""
    single = [[(right, len(text)) for right, text, _ in q.options] for q in questions]
    single = [options for options in single if sum(right for right, _ in options) == 1]
    share = np.array([1 / len(options) for options in single])
    got = sum(options[choose(options)][0] for options in single)
    return (got - share.sum()) / np.sqrt((share * (1 - share)).sum())


def test_neither_position_nor_length_tells_which_answer_is_right():
    for place in range(4):
        open_to_it = [q for q in QUESTIONS if len(q.options) > place]
        assert abs(earned(lambda _, k=place: k, open_to_it)) < 1, "ABCD"[place]
    for extreme in (min, max):
        assert earned(lambda options, best=extreme: options.index(best(options, key=lambda o: o[1])), QUESTIONS) < 1
    middle = earned(lambda options: options.index(sorted(options, key=lambda o: o[1])[len(options) // 2]), QUESTIONS)
    assert middle < 1
    lengths = [np.mean([len(text) for q in QUESTIONS for is_right, text, _ in q.options if is_right == side])
               for side in (True, False)]  # fmt: skip
    assert lengths[0] == pytest.approx(lengths[1], rel=0.1)


#: The numbers of questions that compute nothing.
GIVEN = {
    "quiz-two-numbers": ".70 .42", "quiz-clusters": "1 2", "quiz-compare-sysdep": "2.4 15 1.6 6",
    "quiz-convict": "0", "quiz-learning-curve": "0", "quiz-small-effect": "12 .001 .07 .03 .002 .1 0",
    "quiz-order-moves": ".86 .85 95 .80 .88 1", "quiz-raters-average": "2 300",
    "quiz-favour-corrected": "100 1,000",
    "quiz-lead-over-a-constant": ".2 .02 .70 .62 .01 1/2", "quiz-blind-twin": "0", "quiz-shared-gap": "1.2",
    "quiz-regression-to-the-mean": "0", "quiz-combinations": "0", "quiz-same-segments": "50 100 150",
    "quiz-wmt23-chi-square": "6 1",
}  # fmt: skip
#: Of questions about stored outputs: the page on real data, and what finds the numbers there; nbval recomputes them.
PRINTED = {
    "quiz-wmt23-population": ("system_dependence", r"mean ED: full (\+0\.\d+), paired (\+0\.\d+)"),
    "quiz-wmt23-spearman": ("system_dependence", "".join(
        rf".*?wmt23/{pair}, Spearman[^\n]*? all \((\d+) metrics\): (-0\.\d+)" for pair in ("en-de", "he-en", "zh-en"))),
    "quiz-wmt23-evidence": ("aggregation", r"MQM BLEU +(0\.\d+) +(0\.\d+) .*?\n +chrF +(0\.\d+) +(0\.\d+)"),
    "quiz-wmt23-chi-square": ("local_accuracy_speech", r"chi-square +[\d.]+ +[\d.]+ +([\d.]+) +([\d.]+)"),
}  # fmt: skip


def plain(value, digits=None):
    """Write a number as the book does in prose: no zero before the point."""
    return re.sub(r"^([+-]?)0\.", r"\1.", value if digits is None else f"{value:.{digits}f}")


given, right, wrong = (lambda *texts, kind=kind: {kind: set(texts)} for kind in ("given", "right", "wrong"))


def printed(page, pattern):
    """Return what a stored output of a page on real data shows."""
    cells = nbformat.read(ROOT / "notebooks" / "real_data" / f"{page}.ipynb", as_version=4).cells
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    shown = "\n".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs)
    found = re.search(pattern, shown, flags=re.S)
    assert found, f"{page} does not print {pattern!r}"
    return found.groups()


def _three_groupings(question):
    rows = re.findall(r"^\| ([AB]) \| (\d) \| (-?\d) \| (\d) \|$", question.text, flags=re.M)
    yield given(*(cell for row in rows for cell in row[1:]))
    frame = pd.DataFrame(rows, columns=["system", "segment", "human", "P"])
    es = mm.EvalSet.from_frame(frame.astype({"human": float, "P": float}))
    value = {g: mm.correlate(es, grouping=g).value[0] for g in ("none", "segment", "system")}
    h, p = frame["human"].astype(float), frame["P"].astype(float)
    h, p = h - h.mean(), p - p.mean()
    yield right(f"{value['segment']:.0f}", "0", *(f"{x:.0f}" for x in ((h * p).sum(), (h**2).sum(), (p**2).sum())))
    yield right(plain(value["none"], 1)) | wrong("1", f"{value['system']:.0f}")


def _count_pairs(question):
    yield given("5", "3", "1", ".8", ".4")
    human, metric = np.array([5, 3, 3, 1]), np.array([0.8, 0.8, 0.4, 0.4])
    es = mm.EvalSet(human[:, None], {"m": metric[:, None]}, systems=list("ABCD"))
    c, d, t_h, t_m, _ = exact.pair_counts(human, metric)
    assert mm.correlate(es, coefficient="acc_eq", epsilon=0).value[0] == c / 6
    yield right(f"{c}/6") | wrong(f"{c}/{c + d}", f"{c + t_h}/6", f"{c + t_m}/6")


def _source_only_most(question):
    yield given(".49", "0")
    # Segments at +-.7, systems at +-sqrt(.51) around them: shares .49 and .51 of a variance of 1.
    human = np.array([[0.7, -0.7]] * 2) + np.sqrt(0.51) * np.array([[1, 1], [-1, -1]])
    es = mm.EvalSet(human, {"blind": [[1, 0], [1, 0]]}, systems=list("AB"))
    split = mm.agreement.decompose_pearson(es).iloc[0]
    assert split["human_between"] == pytest.approx(0.49)
    yield right(plain(split["value"], 1)) | wrong(plain(1 - split["human_between"], 2))


def _chance_levels(question):
    yield given(".4", "1/2", "1/3", "0")
    human = np.repeat([[5.0], [5], [3], [3], [3]], 2000, axis=1)  # ties 4 of 10 pairs
    metrics = {"constant": np.zeros(human.shape), "noise": np.random.default_rng(0).random(human.shape)}
    es = mm.EvalSet(human, metrics, systems=list("ABCDE"))
    value = mm.correlate(es, coefficient="acc_eq", epsilon=0).set_index("metric")["value"]
    assert mm.ties.human_tie_share(es) == value["constant"] == pytest.approx(0.4)
    yield right(plain(value["constant"], 1), plain(value["noise"], 1))


def _six_pairs(question):
    ways = [math.comb(6, k) for k in (5, 6)]
    assert stats.binomtest(5, 6).pvalue == 2 * sum(ways) / 2**6 > 0.05
    yield right(f"{2 * sum(ways)}/64", "64", ".05")
    yield wrong(f"{2 * ways[0]}/64", f"{sum(ways)}/64", f"{2 * ways[1]}/64")


def _false_alarms(question):
    yield given("40", ".05") | wrong(f"{0.05 * 40:.0f}") | right(f"{2 * 0.05 * 40:.0f}", f"{0.05 * 40:.0f}")
    difference = np.random.default_rng(0).normal(size=100_000)  # the better of two equals is tested
    assert (np.abs(difference) > 1.6449).mean() == pytest.approx(0.10, abs=0.003)


def _why_zero(question):
    yield given("0")
    assert mm.correlate(mm.load("teaching"), "SourceOnly").eval("value == 0 and n_degenerate == n_groups").all()


def _fewer_systems(question):
    es, means = mm.load("teaching"), {}
    for n in (2, 12):
        draws = [np.random.default_rng([1, n, k]).choice(12, n, replace=False) for k in range(20)]
        parts = [es.select(systems=[es.systems[i] for i in sorted(draw)]) for draw in draws]
        splits = [mm.agreement.decompose_pearson(part, "SourceOnly").drop(columns="metric") for part in parts]
        split = pd.concat(splits).astype(float)
        means[n] = np.sqrt(split["human_between"]).mean(), split["value"].mean(), split["within"].max()
    yield right(*(plain(means[n][0], 2) for n in (2, 12)), f"{means[2][2]:.0f}")
    yield wrong("0", *(plain(means[n][1], 2) for n in (2, 12)))


def _silent_segments(question):
    es, silent = mm.load("teaching"), {}
    for name in ("Regressor", "Tagger"):
        for way in ("drop", "zero"):
            yield given(plain(mm.correlate(es, name, degenerate=way).value[0], 3))
        silent[name] = int(((np.ptp(es[name], axis=0) == 0) & (np.ptp(es.human, axis=0) > 0)).sum())
    assert silent["Regressor"] == 0
    yield given("0") | right(f"{silent['Tagger']}")


def _raise_threshold(question):
    # Three pairs that humans tie, two in their order, two in the opposite one, each in a segment of its own.
    human = [[0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0, 0]]
    metric = [[0.1, 0.1, 0.1, 0.1, 0.1, -0.1, -0.1], [0, 0, 0, 0, 0, 0, 0]]
    es = mm.EvalSet(human, {"m": metric}, systems=["A", "B"])
    before, after = (mm.correlate(es, coefficient="acc_eq", epsilon=e).value[0] * 7 for e in (0.05, 0.15))
    yield right(f"{after - before:.0f}") | wrong("4", "3", "5")


def _twin_without_ties(question):
    yield given(".5", ".2", ".3")
    human = np.tile([[1.0], [0.0]], (1, 10_000))
    metric = np.array([np.repeat([1.0, -1.0, 0.0], [5000, 2000, 3000]), np.zeros(10_000)])
    es = mm.EvalSet(human, {"m": metric, "twin": mm.ties.discrete_to_continuous(metric, rng=0)}, systems=["A", "B"])
    own, twin = mm.correlate(es, coefficient="acc_eq", epsilon=0).value
    assert (own, twin) == (0.5, pytest.approx(0.65, abs=0.015))
    yield right(plain(own + 0.3 / 2, 2)) | wrong(".5", ".8")


def _drop_a_word(question):
    reference, translation = (text.split() for text in re.findall(r"\*(the cat [a-z ]+)\*", question.text))
    shares = [f"{sum(w in reference for w in text)}/{len(text)}" for text in (reference, translation)]
    assert Fraction(shares[0]) > Fraction(shares[1])
    yield right(*shares) | wrong(f"{sum(word in translation for word in reference)}")


def _same_verdicts(question):
    yield given("1", "5")
    said = pd.DataFrame({"reference": ["the cat sat on the mat"] * 2, "transcript": ["the cat", "the mat"]})
    said["perturbed"] = ["the cat sat on mat", "the cat sat on the big mat"]
    scores = mm.scoring.score_pairs(said, task="speech").filter(like="_perturbed")
    scores.columns = scores.columns.str.removesuffix("_perturbed")
    np.testing.assert_allclose(scores["wip"], 1 + scores["wil"])
    assert scores["wer"][0] == scores["wer"][1]
    assert scores["mer"][0] < scores["mer"][1]


def _ten_swaps(question):
    yield given("1", "3")
    lists = [list("abcde")]
    for i, j in combinations(range(5), 2):
        lists.append(list("abcde"))
        lists[-1][i], lists[-1][j] = lists[-1][j], lists[-1][i]
    frames = [pd.DataFrame({"system": "A", "query": "q", "item": one, "rank": range(1, 6), "swap": k})
              for k, one in enumerate(lists)]  # fmt: skip
    wanted = pd.DataFrame({"query": "q", "item": ["a", "c"], "relevance": 1})
    before, *after = mm.scoring.score_rankings(pd.concat(frames), wanted, ["map"])["map"]
    effect = [np.sign(round(value - before, 12)) for value in after]
    lowered, kept, raised = (effect.count(sign) for sign in (-1, 0, 1))
    assert (lowered, kept, raised) == (5, 4, 1)
    yield right(f"{lowered}/10")
    yield wrong(f"{lowered + raised}/10", f"{lowered}/{lowered + raised}", f"{lowered + kept}/10")


def _two_sentences(question):
    yield given("2", "8", "4")
    right_words, words = np.array([2, 4]), np.array([2, 8])
    corpus, mean = right_words.sum() / words.sum(), (right_words / words).mean()
    yield right(plain(corpus, 1), plain(mean, 2))
    yield wrong("1", ".5", f"{right_words.sum()}", f"{words.sum()}", plain(corpus, 1), plain(mean, 2))


def _three_systems(question):
    assert 1 / math.factorial(3) > 0.05
    yield right(f"{math.factorial(3)}", ".05") | wrong(f"{math.factorial(3)}")


def _wmt23_groupings(question):
    none, segment, system = printed(
        "sentinels", r"pearson +none +\d+ +(\d+)\s+segment +\d+ +(\d+)\s+system +\d+ +(\d+)"
    )
    (n,) = printed("sentinels", r"(\d+) metrics, 6 of them sentinels")
    yield given(none, n) | right(system, segment) | wrong(system, segment)


def _wmt23_gemba(question):
    none, segment = printed("sentinels", r"pearson +none +(\d+) +\d+\s+segment +(\d+) +\d+")
    yield given(none, segment, "38")
    assert int(none) - int(segment) == 10


def _wmt23_tie_share(question):
    zh, he = (float(printed("ties", rf"{pair} +\d+ +([\d.]+)")[0]) / 100 for pair in ("zh-en", "he-en"))
    yield given(f"{100 * zh:.1f}", f"{100 * he:.1f}", "0", ".5") | right(plain(zh, 3), plain(he, 3))
    yield wrong(f"{50 * (1 - zh):.1f}", f"{50 * (1 - he):.1f}")


def _wmt23_noise(question):
    (table,) = printed("ties", r"( +mean gain.*?zh-en.*?MaTESe[^\n]*)")
    rows = re.findall(r"(?:GEMBA-MQM|MaTESe) +([\d.]+) +[\d.]+ +[\d.]+ +([\d.]+)", table)
    gains, gaps = np.array(rows, dtype=float).T
    assert len(rows) == 6
    largest, gap = math.ceil(gains.max() * 1e4) / 1e4, gaps.min()
    assert largest < gap / 3
    yield given(plain(largest, 4), plain(gap, 4))


def _wmt23_range(question):
    sysdep, null, p = printed("system_dependence", r"0 +human +([\d.]+) +([\d.]+) +[\d.]+ +[\d.]+ +([\d.]+)")
    yield given(plain(float(sysdep), 2), plain(float(null), 2), plain(float(p), 2), "95")
    yield given(*printed("system_dependence", r"(\d+) of (\d+) systems lie outside"))


def _wmt23_shuffle(question):
    lines = [f"{how}: chrF {{}}; all but the first turned round: {{}}" for how in ("intended", "transposed")]
    found = printed("aggregation", r"\n".join(lines).replace("{}", r"([\d.]+)"))
    assert found[2] == found[3]
    yield given(*found) | wrong("2.0")


def _worth_of_80(question):
    yield given(".5", "80", "0", "1/2", "1")
    slope = 0.5
    needed = np.log(0.8 / 0.2) / slope
    yield right(plain(needed, 2), plain(needed * slope, 2))
    yield wrong(plain(0.8 / slope, 1), ".8", ".5", plain(needed * slope, 2), plain(needed * slope * slope, 2))


def _share_that_stands(question):
    share = {n: 4 / (4 + 200 / n) for n in (50, 200)}
    yield given("50", "2", "4", "200") | right(f"{2 * share[50]:.0f}", f"{200 / 50:.0f}")
    yield wrong("0", plain(share[200], 1), plain(2 * share[200], 1))


def _pairs_share_systems(question):
    yield given("36", "10", "95")
    pairs, share = math.comb(10, 2), 36 / math.comb(10, 2)
    half = 1.96 * math.sqrt(share * (1 - share) / pairs)
    yield given(f"{pairs}", plain(share, 2), plain(share - half, 2), plain(share + half, 2)) | right("9")


def _second_rater(question):
    yield given(".56", ".49") | right(plain(0.56 / 0.49**0.5, 1)) | wrong(plain(0.56 * 0.49, 2))


def _instrument(question):
    yield given("2", "1", "4/5")
    quality = np.repeat([2.0, -2], 4)
    first, second = quality + np.tile([1, 1, -1, -1], 2), quality + np.tile([1, -1], 4)
    shared = np.mean(first * second)
    assert (np.mean(quality * first) / np.var(first), np.mean(quality * second) / shared) == (4 / 5, 1)
    yield right(f"{shared:.0f}", f"{np.var(first):.0f}")


def _which_metric_saves(question):
    yield given(".98", ".4", ".92", ".6") | right(*(plain(r**2, 2) for r in (0.4, 0.6))) | wrong(".4", ".6")


def _constant_upside_down(question):
    yield given("80", "82", "84", "90")
    human, metric = [[0], [0], [0], [-5]], [[80], [82], [84], [90]]
    es = mm.EvalSet(human, {"m": metric}, systems=list("ABCD"))
    flat = es.with_metrics({"m": np.ones((4, 1))})
    tied, pairs = mm.ties.human_tie_share(es), 4 * 3 / 2
    assert mm.calibrate_ties(es, "m").value == mm.calibrate_ties(flat, "m").value == tied
    free = mm.ties.expected_accuracy(es)["value"][0]
    yield right(plain(tied, 1), f"{tied * pairs:.0f}", f"{pairs:.0f}", f"{np.ptp(es['m']):.0f}")
    yield wrong(plain(tied, 1), f"{free:.0f}")


def _f1_of_taking_all(question):
    yield given(".86")
    good, taken = np.array([1, 1, 1, 0]), np.ones(4)
    f1 = detectors.f1_score(good, taken)
    youden = detectors.recall_score(good, taken) - detectors.recall_score(1 - good, taken)  # less the false alarms
    precision, recall = detectors.precision_score(good, taken), detectors.recall_score(good, taken)
    yield right(plain(f1, 2), f"{youden:.0f}") | wrong(plain(precision, 2), f"{recall:.0f}")


#: By question: the function that is named after it.
FACTS = {f"quiz{name.replace('_', '-')}": function for name, function in globals().items() if re.match("_[a-z]", name)}


def yielded(question):
    found = {"given": set(GIVEN.get(question.name, "").split()), "right": set(), "wrong": set()}
    if question.name in PRINTED:
        found["given"] |= set(map(plain, printed(*PRINTED[question.name])))
    for fact in FACTS[question.name](question) if question.name in FACTS else ():
        for kind, texts in fact.items():
            found[kind] |= texts
    return found


WITH_NUMBERS = [question for question in QUESTIONS if numbers(question.all_text)]


def test_every_question_with_numbers_has_a_function():
    assert FACTS.keys() | GIVEN.keys() | PRINTED.keys() == {question.name for question in WITH_NUMBERS}


@pytest.mark.parametrize("question", WITH_NUMBERS, ids=lambda q: q.name)
def test_numbers_follow(question):
    found = yielded(question)
    assert numbers(question.all_text) == set().union(*found.values())
    assert found["right"] <= numbers(question.said(True))
    assert found["wrong"] <= numbers(question.said(False))


@pytest.mark.data
def test_numbers_on_wmt23_follow_from_the_data(data_dir):
    asked = {question.name: question for question in QUESTIONS}
    shares = [mm.ties.human_tie_share(mm.load(f"wmt23/{pair}")) for pair in ("zh-en", "he-en")]
    assert {plain(share, 3) for share in shares} == yielded(asked["quiz-wmt23-tie-share"])["right"]
    found = mm.system_dependence(mm.load("wmt23/zh-en"), "XCOMET-Ensemble", n_resamples=0)
    assert plain(found.summary["sysdep"][0], 2) in yielded(asked["quiz-wmt23-range"])["given"]
