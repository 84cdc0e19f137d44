"""Perturbations: one edit of a kind that says what it does, in the text as it stands; tables, rankings, models."""

import json
import sys
from collections import Counter
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from campaigns import refuses
from hypothesis import given, settings
from hypothesis import strategies as st

import mtmeta as mm
from mtmeta import perturb
from mtmeta.perturb import _lexicon as lexicon
from mtmeta.perturb._edits import PHONETIC, Setting
from mtmeta.perturb._llm import perturbed_by, prompt_of
from mtmeta.perturb._table import _edit
from mtmeta.perturb._words import Words

RULES = tuple(k for k in perturb.KINDS["translation"] if k not in ("llm", "composed"))


def known_words(language):
    """Return the words of the bundled thesaurus, to insert where there is no frame to take words from."""
    return sorted(lexicon._thesaurus(language)) if language in lexicon.LANGUAGES else ()


def outcomes(text, kind, n=200, *, task="translation", language="en", vocabulary=None, entities=None, tools="bundled"):
    """Return every result of many draws; words and entities to insert are the bundled ones by default."""
    vocabulary = known_words(language) if vocabulary is None else vocabulary
    setting = Setting(vocabulary, entities or lexicon.bundled_entities(language), lexicon.Tools(language, tools))
    return {_edit(Words(text, language), kind, task, setting, np.random.default_rng(i)) for i in range(n)}


def edited(text, kind, language, seed):
    """Return one result, or None."""
    setting = Setting(known_words(language), lexicon.bundled_entities(language), lexicon.Tools(language))
    return _edit(Words(text, language), kind, "translation", setting, np.random.default_rng(seed))


#: Kind, options, and every possible result of each text; none where it cannot be perturbed.
WORKED = json.loads(Path(__file__).with_name("perturbations.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("kind", "options", "expected"), WORKED)
def test_worked_sentences(kind, options, expected):
    found = {text: outcomes(text, kind, **options) for text in expected}
    assert found == {text: {*results} or {None} for text, results in expected.items()}


def test_composed_makes_several_edits():
    text = "The old house was not cold, and he liked our garden."
    assert text not in (found := outcomes(text, "composed", n=50))
    assert max(sum(changed(text, new, "en")) for new in found) > 2
    assert None not in outcomes("He did not wait.", "composed")
    assert outcomes("...", "composed") == {None}
    assert all(new and pattern.pattern not in new for pattern, new in PHONETIC)


POOL = {
    "en": "The house was not cold he saw a friend quickly in Rome we don't like it Never mind no cars began".split(),
    "de": "Das Haus war nicht kalt er sah einen Freund schnell in Berlin wir mögen es Kein Auto ist kaputt".split(),
    "ru": "Дом не был новый он видел друг быстро Москва мы любим это Никто знает только работа очень".split(),
}


@st.composite
def sentences(draw):
    language = draw(st.sampled_from(sorted(POOL)))
    words = draw(st.lists(st.sampled_from(POOL[language]), min_size=1, max_size=12))
    gap = st.sampled_from([" ", ", ", "  ", " – ", ". ", "\t"])
    gaps = draw(st.lists(gap, min_size=len(words), max_size=len(words)))
    text = "".join(w + g for w, g in zip(words, gaps, strict=True))
    return language, text.strip() + draw(st.sampled_from(["", ".", "!", '."']))


def changed(text, new, language):
    """Return how many words went and came."""
    before, after = (Counter(Words(t, language).words) for t in (text, new))
    return sum((before - after).values()), sum((after - before).values())


#: How many words may go and come.
ONE_EDIT = {
    "removal": {(1, 0)}, "insertion": {(0, 1)}, "swapping": {(0, 0)}, "synonym": {(1, 1)}, "pronoun": {(1, 1)},
    "named_entity": {*product(range(4), repeat=2)}, "negation": {(0, 1), (1, 1)}, "negation_removal": {(1, 0), (1, 1)},
}  # fmt: skip


@settings(max_examples=150)
@given(sentences(), st.sampled_from(RULES), st.integers(0, 2**32))
def test_one_edit_that_leaves_the_rest_alone(sentence, kind, seed):
    language, text = sentence
    new = edited(text, kind, language, seed)
    assert new == edited(text, kind, language, seed)
    if new is None:
        return
    assert new != text
    assert changed(text, new, language) in ONE_EDIT[kind], new
    if kind != "swapping":  # one place: what stands before and after it is untouched, byte for byte
        same = next((i for i, (a, b) in enumerate(zip(text, new, strict=False)) if a != b), min(len(text), len(new)))
        rest = min(len(text), len(new)) - same
        tail = next((i for i in range(rest) if text[-1 - i] != new[-1 - i]), rest)
        words = Words(text, language)
        names = [words.between(*place) for place in lexicon.Tools(language).entities(words)]
        longest = max(len(w) for w in [*words.words, *(names if kind == "named_entity" else ())])
        assert len(text) - same - tail <= longest + 3
    else:
        assert sorted(new) == sorted(text)


@pytest.fixture(scope="module")
def teaching():
    columns = ["system", "segment", "source", "reference", "translation"]
    return mm.load("teaching").to_frame().query("segment <= 40")[columns]


def as_rows(table):
    return sorted(table[["system", "segment", "perturbation", "perturbed"]].itertuples(index=False, name=None))


def test_table_of_perturbations(teaching):
    table = perturb.perturb_table(teaching)
    assert list(table.columns) == [*teaching.columns, "perturbation", "perturbed"]
    assert (table["perturbed"] != table["translation"]).all()
    counts = table.groupby(["system", "segment"])["perturbation"].agg(["size", "nunique"])
    assert (counts["size"] == counts["nunique"]).all()
    assert (counts["size"].max(), len(counts)) == (4, len(teaching))
    assert set(table["perturbation"]) == set(perturb.KINDS["translation"]) - {"llm"}
    assert perturb.perturb_table(teaching, rng=1)["perturbed"].tolist() != table["perturbed"].tolist()


@pytest.mark.slow
def test_table_does_not_depend_on_order_workers_or_other_kinds(teaching):
    table = perturb.perturb_table(teaching)
    shuffled = perturb.perturb_table(teaching.sample(frac=1, random_state=3))
    assert as_rows(shuffled) == as_rows(table)
    everything = perturb.perturb_table(teaching, n_kinds=None)
    assert set(as_rows(table)) <= set(as_rows(everything))
    of_no_other_row = ["removal", "swapping", "synonym", "pronoun", "negation", "negation_removal"]
    alone = perturb.perturb_table(teaching.query("segment <= 5"), kinds=of_no_other_row, n_kinds=None)
    full = perturb.perturb_table(teaching, kinds=of_no_other_row, n_kinds=None)
    assert as_rows(alone) == as_rows(full.query("segment <= 5"))


def test_kinds_are_sampled_evenly_among_those_that_apply():
    frame = pd.DataFrame({"segment": range(4000), "translation": "Go home and stay there."})
    chosen = ["removal", "swapping", "insertion", "negation_removal"]
    table = perturb.perturb_table(frame, kinds=chosen, n_kinds=1)
    counts = table["perturbation"].value_counts()
    assert set(counts.index) == {"removal", "swapping", "insertion"}
    assert (abs(counts - 4000 / 3) < 5 * np.sqrt(4000 * 2 / 9)).all()  # binomials with p = 1/3: five standard errors


def test_entities_and_words_come_from_the_table():
    frame = pd.DataFrame({"translation": ["We met Clara.", "They saw Bruno.", "Now Bruno sings."]})
    table = perturb.perturb_table(frame, kinds=["named_entity"])
    assert set(table["perturbed"]) == {"We met Bruno.", "They saw Clara.", "Now Clara sings."}
    bundled = perturb.perturb_table(frame.iloc[:1], kinds=["named_entity"])["perturbed"].item()
    assert bundled.removeprefix("We met ").removesuffix(".") in lexicon.bundled_entities("en")
    inserted = perturb.perturb_table(frame, kinds=["insertion"])
    for old, new in zip(inserted["translation"], inserted["perturbed"], strict=True):
        (word,) = Counter(Words(new, "en").words) - Counter(Words(old, "en").words)
        assert word in {"met", "Clara", "saw", "Bruno", "sings"}


class FakeWordNet:
    words: ClassVar = {("tree", "n"): ["tree", "oak", "gum_tree"], ("walk", "v"): ["walk", "stroll"]}

    def morphy(self, word, pos):
        return {"trees": "tree", "homes": "home"}.get(word, word) if pos in "nv" else None

    def synsets(self, base, pos):
        return [SimpleNamespace(lemma_names=lambda: self.words[base, pos])] if (base, pos) in self.words else []


def test_wordnet_is_used_where_it_is_there(monkeypatch):
    monkeypatch.setattr(lexicon, "wordnet", FakeWordNet)
    assert outcomes("One tree.", "synonym", tools="wordnet") == {"One oak."}
    assert outcomes("Two homes.", "synonym", tools="wordnet") == {"Two houses."}  # by the list: WordNet has base forms
    assert outcomes("Two trees.", "synonym", tools="bundled") == {None}
    assert outcomes("Das Auto.", "synonym", language="de") == {"Das Fahrzeug."}


class FakePipeline:  # knows one verb and one name
    meta: ClassVar = {"lang": "en", "name": "fake"}

    def __call__(self, text):
        words = ((a, text[a:b]) for a, b in Words(text, "en").spans)
        tokens = [SimpleNamespace(idx=a, text=word, pos_="VERB" if word == "zorp" else "X") for a, word in words]
        at = text.find("the Blue Hall")
        entity = SimpleNamespace(start_char=at, end_char=at + 13, label_="FAC")
        return type("Doc", (list,), {"ents": [entity] if at >= 0 else []})(tokens)


def test_spacy_is_used_where_a_model_is_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load={"en_core_web_sm": FakePipeline()}.__getitem__))
    for name in ("spacy_model", "_document"):  # as they are without their caches
        monkeypatch.setattr(lexicon, name, getattr(lexicon, name).__wrapped__)
    assert outcomes("We zorp here.", "negation", tools="spacy") == {"We not zorp here."}
    assert outcomes("In the Blue Hall now.", "named_entity", entities=["Rome"], tools="spacy") == {"In Rome now."}
    assert outcomes("We zorp here.", "negation", tools="bundled") == {None}
    frame = pd.DataFrame({"translation": ["In the Blue Hall now.", "In Rome now.", "We zorp here."]})
    table = perturb.perturb_table(frame, kinds=["named_entity", "negation"], tools="spacy")
    assert table["perturbation"].unique().tolist() == ["named_entity", "negation"]
    by_rule = perturb.perturb_table(frame, kinds=["named_entity"], tools="bundled")
    assert set(by_rule["perturbed"]) == {"In the Rome now.", "In Blue Hall now."}


def test_the_bundled_lists_are_the_default_and_other_tools_must_be_installed(monkeypatch):
    for name in ("nltk.corpus", "spacy"):
        monkeypatch.setitem(sys.modules, name, None)
    lexicon.wordnet.cache_clear()
    lexicon.spacy_model.cache_clear()
    frame = pd.DataFrame({"translation": ["She did not see the old house in Rome."]})
    assert perturb.perturb_table(frame).equals(perturb.perturb_table(frame, tools="bundled"))
    for tools in ("wordnet", "spacy", "wordnet+spacy"):
        refuses("needs nltk's WordNet or spaCy.* Use tools='bundled'", perturb.perturb_table, frame, tools=tools)
    refuses("`tools` must be one of", perturb.perturb_table, frame, tools="auto")


def swapped(items, qrels=None, **options):
    """Return the new order of a ranking, one for each draw; None where it has no rows."""
    runs = pd.DataFrame({"system": "a", "query": 1, "item": items, "rank": range(1, len(items) + 1)})
    if qrels is not None:
        qrels = pd.DataFrame({"query": 1, "item": list(qrels), "relevance": list(qrels.values())})
        options["how"] = "degrade"
    new = perturb.perturb_rankings(runs, qrels, **options)
    return [part["item"].tolist() for _, part in new.groupby("perturbation")] or None


def test_one_swap_exchanges_two_items_and_degrading_moves_a_relevant_one_down():
    items = list("abcdef")
    found = swapped(items, n_swaps=1, n_resamples=50)
    assert len(found) == 50
    assert all(sum(a != b for a, b in zip(items, new, strict=True)) == 2 for new in found)
    assert swapped(["a"], n_swaps=1) is None
    assert swapped(["a", "b"], n_swaps=2) is None
    # b and d are as far down as they can be after two swaps
    assert swapped(list("bda"), {"b": 1, "d": 1}, n_swaps=9)[0][0] == "a"
    assert swapped(list("abc"), {"c": 1}, n_swaps=1) is None


@settings(max_examples=60)
@given(st.integers(2, 30), st.integers(1, 8), st.integers(0, 999), st.data())
def test_swaps_never_leave_a_ranking_as_it_was(n, n_swaps, seed, data):
    items = list(range(n))
    relevance = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    for qrels in (None, dict(enumerate(relevance))):
        for new in swapped(items, qrels, n_swaps=n_swaps, rng=seed) or ():
            assert sorted(new) == items != new
            if qrels:  # degraded: the gain in every prefix is no larger
                gains = np.cumsum([[relevance[i] for i in items], [relevance[i] for i in new]], axis=1)
                assert (gains[1] <= gains[0]).all()


@pytest.fixture
def runs():
    rows = [(s, q, f"i{(7 * r + 3 * q) % 20}", r + 1, 1 / (r + 1)) for s in "ab" for q in (1, 2, 3) for r in range(10)]
    return pd.DataFrame(rows, columns=["system", "query", "item", "rank", "score"])


def test_perturbed_rankings(runs):
    new = perturb.perturb_rankings(runs, n_swaps=2, n_resamples=3)
    assert list(new.columns) == [*runs.columns, "perturbation"]
    assert set(new["perturbation"]) == {"swapping-1", "swapping-2", "swapping-3"}
    every = runs.sort_values(["system", "query", "rank"])
    for _, part in new.groupby("perturbation"):  # items change places between ranks and scores that stay
        assert part[["system", "query", "rank", "score"]].values.tolist() == every.drop(columns="item").values.tolist()
    again = perturb.perturb_rankings(runs.sample(frac=1, random_state=1), n_swaps=2, n_resamples=3)
    pd.testing.assert_frame_equal(again, new)
    alone = perturb.perturb_rankings(runs[runs["system"] == "b"], n_swaps=2, n_resamples=3)
    pd.testing.assert_frame_equal(alone, new[new["system"] == "b"].reset_index(drop=True))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory, transformers):
    """Return the folder of a causal language model with random weights, and a byte tokeniser."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("model")
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokeniser = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate([*alphabet, "<end>"])}, merges=[]))
    tokeniser.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokeniser.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=tokeniser, eos_token="<end>").save_pretrained(folder)
    sizes = {"vocab_size": len(alphabet) + 1, "n_positions": 2048, "n_embd": 16, "n_layer": 1, "n_head": 2}
    config = GPT2Config(**sizes, bos_token_id=256, eos_token_id=256)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def test_prompts_are_the_papers():
    text = prompt_of("c", "translation", "de", "en", "b", "a")
    assert text.startswith("I have the following source text (SOURCE_ENGLISH), reference translation (REFERENCE_GE")
    assert 'MT_OUTPUT_GERMAN: "c"\n\nPlease modify MT_OUTPUT_GERMAN to introduce minor typical' in text
    assert text.endswith("Do not include any explanations or additional text. Only return the perturbed output.")
    assert "minor ASR errors" in prompt_of("c", "speech", "en", "en", "b", None)


def test_model_perturbs_and_repeats_itself(tiny, teaching):
    import torch

    options = {"max_new_tokens": 8, "batch_size": 4}
    how = {"kinds": ["llm", "removal"], "n_kinds": 2, "source_language": "de"}
    perturbed = partial(perturb.perturb_table, teaching.iloc[:6], **how)
    model, state, asked = perturb.LanguageModel(tiny, **options), torch.random.get_rng_state(), []
    table = perturbed(model=lambda prompts: asked.extend(prompts) or model(prompts))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert len(asked) == 6
    assert all("MT_OUTPUT_ENGLISH" in prompt for prompt in asked)
    found = perturbed(model=perturb.LanguageModel(tiny, **options))
    assert found["perturbed"].tolist() == table["perturbed"].tolist()
    assert "llm" in set(found["perturbation"])
    other = perturbed(model=perturb.LanguageModel(tiny, seed=1, **options))
    assert other["perturbed"].tolist() != table["perturbed"].tolist()


HOME = "He goes home."
ANSWERS = [
    (HOME, "He go home.", "He go home."),
    (HOME, "Here is the perturbed output:\n\nHe go home.", "He go home."),
    (HOME, 'MT_OUTPUT_GERMAN: "He go home."', "He go home."),
    (HOME, '"Yes," she said, "no."', '"Yes," she said, "no."'),
    (HOME, "I'm sorry, I can't help with that.", None),
    # an apology that was to be perturbed is not a refusal
    ("I'm sorry I was late.", "I'm sorry I was lates.", "I'm sorry I was lates."),
    (HOME, "  ", None),
    (HOME, ' "He goes home." ', None),
]


@pytest.mark.parametrize(("text", "answer", "expected"), ANSWERS, ids=[a for _, a, *_ in ANSWERS])
def test_answers_are_judged(text, answer, expected):
    assert perturbed_by(answer, text) == expected


def test_another_kind_stands_in_for_a_refusal(teaching):
    table = perturb.perturb_table(teaching, model=lambda prompts: ["I cannot do this."] * len(prompts))
    assert not {"llm", "composed"} & set(table["perturbation"])
    assert (table.groupby(["system", "segment"]).size() == 4).sum() > 0.9 * len(teaching)


FRAME = pd.DataFrame({"system": ["a"], "segment": [1], "translation": ["He goes home."]})
RUNS = pd.DataFrame({"system": "a", "query": 1, "item": ["x", "y"], "rank": [1, 2]})
TWICE = pd.DataFrame({"query": [1, 1], "item": "x", "relevance": 1})
BAD = [
    (perturb.perturb_table, (FRAME,), {"language": "English!"}, "code of a language"),
    (perturb.perturb_table, (FRAME,), {"model": perturb.LanguageModel("x")}, "lacks the column 'reference'"),
    (perturb.perturb_table, (FRAME.assign(perturbed=""),), {}, "a column 'perturbed' already"),
    (perturb.perturb_rankings, (RUNS.assign(rank=1),), {}, "several rows of .* rank 1;"),
    (perturb.perturb_rankings, (RUNS, TWICE), {"how": "degrade"}, "`qrels` has several rows of query 1"),
]


@pytest.mark.parametrize(("function", "given", "options", "message"), BAD, ids=[m for *_, m in BAD])
def test_errors(function, given, options, message):
    refuses(message, function, *given, **options)
