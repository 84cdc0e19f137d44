"""Perturbation of one text and of tables of texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from joblib import delayed

from .._checks import check_choice, check_count, check_jobs, generator
from .._names import positions
from .._processes import parallel
from .._resampling import base_seed, generator_of
from .._tables import check_table
from . import _lexicon as lexicon
from ._edits import EDITS, Setting, vocabulary_of
from ._llm import LanguageModel, prompt_of
from ._words import Words, base_language

_OF_TRANSLATIONS = "removal insertion swapping synonym pronoun named_entity negation negation_removal llm composed"
_OF_SPEECH = "removal insertion swapping phonetic llm composed"
#: Kinds of perturbation by task. ``llm`` needs a language model; ``composed`` stands in for it and is no LLM.
KINDS = {"translation": tuple(_OF_TRANSLATIONS.split()), "speech": tuple(_OF_SPEECH.split())}
#: The column with the text, by task.
COLUMN = {"translation": "translation", "speech": "transcript"}
_NEW = ("perturbation", "perturbed", "resource")
_CHUNK = 1000
#: One edit may undo another; then it tries again.
_TRIES = 10


def _edit(words: Words, kind: str, task: str, setting: Setting, rng: np.random.Generator) -> str | None:
    new = _composed(words, task, setting, rng) if kind == "composed" else EDITS[kind](words, setting, rng)
    return None if new == words.text else new


def _composed(words: Words, task: str, setting: Setting, rng: np.random.Generator) -> str | None:
    """Make two or three edits of different kinds, one after the other."""
    names = [k for k in KINDS[task] if k in EDITS]
    for _ in range(_TRIES):
        wanted, done, text = int(rng.integers(2, 4)), 0, words
        for name in rng.permutation(names):
            new = EDITS[str(name)](text, setting, rng)
            if new is not None:
                text, done = Words(new, words.language), done + 1
            if done == wanted:
                break
        if done < 2:
            return None
        if text.text != words.text:
            break
    return text.text


def apply(
    text: str,
    kind: str,
    *,
    language: str = "en",
    task: str = "translation",
    rng: int | np.random.Generator | None = None,
) -> str | None:
    """Make a text slightly worse: one random edit of one kind.

    Everything outside the edit stays the same, byte for byte: case, punctuation, spaces. (The paper compares the output
    as it is with a lower-cased and tokenised perturbation, which a metric that sees case tells apart before it has
    looked at the words.)

    Parameters
    ----------
    text : str
    kind : str
        ``removal``, ``insertion``, ``swapping``; for translations also ``synonym``, ``pronoun``, ``named_entity``,
        ``negation``, ``negation_removal``; for speech also ``phonetic`` (English); ``composed``, two or three of the
        others one after the other. Only `perturb_table` asks a language model (``llm``).
    language : str
        Language of the text. English, German and Russian have word lists, from which inserted words and names come;
        other languages know removal and swapping, and in `perturb_table` insertion. In Chinese and Japanese, which have
        no spaces, a word is a character.
    task : {"translation", "speech"}
    rng : None, int or Generator

    Returns
    -------
    str or None
        The perturbed text, which always differs from ``text``; None if the kind does not apply.

    Raises
    ------
    TypeError
        If the text is no string.
    ValueError
        If task or kind are unknown.

    Notes
    -----
    What each kind does:

    - removal: drops a word and one of the spaces around it. Needs two words.
    - insertion: puts a word of the vocabulary at a random place.
    - swapping: exchanges two words that differ. Their capitals move with them.
    - synonym: replaces a word by one that shares a WordNet synset, if WordNet is installed, otherwise by one of the
      same group in the bundled list, in the same inflection.
    - pronoun: replaces a pronoun by another one of its kind: subject by subject, possessive by possessive.
    - named_entity: replaces a name, found by spaCy if a pipeline is installed, otherwise by its capitals.
    - negation: adds "not" after an auxiliary or before a verb or adjective; "nicht" after a finite verb, or a
      "k" to an indefinite article; "не" before a verb or adjective. It keeps two words away from any other negation.
    - negation_removal: removes "not", "n't", "never", "kein" or "не", or replaces "nothing" by "something".
    - phonetic: replaces letters by others that sound alike, such as f and ph.

    References
    ----------
    Section 4.2 and appendix A.2.2 of Deviyani & Diaz 2025.

    Examples
    --------
    >>> from mtmeta import perturb
    >>> perturb.apply("Nothing has changed.", "negation_removal")
    'Something has changed.'
    >>> perturb.apply("Das ist eine Idee.", "negation", language="de", rng=1)
    'Das ist nicht eine Idee.'
    >>> perturb.apply("Rain again.", "pronoun") is None
    True
    """
    check_choice("task", task, KINDS)
    check_choice("kind", kind, [k for k in KINDS[task] if k != "llm"])
    if not isinstance(text, str):
        raise TypeError(f"`text` must be a string; found {type(text).__name__}.")
    language = base_language(language)
    bundled = lexicon.bundled_vocabulary(language), lexicon.bundled_entities(language)
    setting = Setting(*bundled, lexicon.Tools(language))
    return _edit(Words(text, language), kind, task, setting, generator(rng))


# -- tables ------------------------------------------------------------------------------


def _check_kinds(chosen: Sequence[str] | None, task: str, model: LanguageModel | None) -> tuple[str, ...]:
    if chosen is None:
        return tuple(k for k in KINDS[task] if k != ("llm" if model is None else "composed"))
    positions("kind", chosen, KINDS[task])
    if "llm" in chosen and model is None:
        raise ValueError("kind 'llm' needs a language model (in Python: `model`); 'composed' needs none.")
    return tuple(chosen)


def _entities_of(texts: Sequence[str], tools: lexicon.Tools) -> tuple[str, ...]:
    """Return the distinct named entities of texts, sorted; the bundled ones where there are fewer than two."""
    every = (Words(text, tools.language) for text in texts)
    found = {words.between(*place) for words in every for place in tools.entities(words)}
    return tuple(sorted(found)) if len(found) > 1 else lexicon.bundled_entities(tools.language)


def _some(
    rows: Sequence[tuple[str, tuple]], chosen: Sequence[str], n_kinds: int, task: str, seed: int, setting: Setting
) -> list[list[tuple[str, str | None]]]:
    """Perturb some rows. The kinds are tried for each in random order until enough apply; ``llm`` is left open."""
    out = []
    for text, key in rows:
        words, made, enough = Words(text, setting.tools.language), [], n_kinds
        for kind in generator_of(seed, *key).permutation(np.array(chosen, dtype=object)):
            if len(made) >= enough:
                break
            if kind == "llm":
                made.append((kind, None))
                enough += 1
                continue
            new = _edit(words, kind, task, setting, generator_of(seed, *key, kind))
            if new is not None:
                made.append((kind, new))
        out.append(made)
    return out


def perturb_table(
    frame: pd.DataFrame,
    *,
    task: str = "translation",
    language: str = "en",
    kinds: Sequence[str] | None = None,
    n_kinds: int | None = 4,
    rng: int | np.random.Generator | None = 0,
    model: LanguageModel | None = None,
    source_language: str = "en",
    tools: str = "bundled",
    n_jobs: int = 1,
) -> pd.DataFrame:
    """Perturb every text of a table by a few kinds drawn at random, as `apply` does.

    Words and entities to insert are those of all texts of the table, the first word of each text left out; where the
    texts name fewer than two entities, bundled ones.

    The kinds of a row are sampled without replacement among those that apply to it. The draws depend on ``rng``,
    system, segment, text and kind, not on the order of the rows or on ``n_jobs``.

    Parameters
    ----------
    frame : DataFrame
        One row per text, in the column ``translation`` or ``transcript``. ``system`` and ``segment`` tell rows with
        the same text apart. ``llm`` also needs ``reference``, and of translations ``source``.
    task : {"translation", "speech"}
    language : str
        Language of the texts.
    kinds : sequence of str, optional
        Kinds to sample from; by default all of the task, except ``composed`` if there is a ``model`` and ``llm`` if
        there is none.
    n_kinds : int or None
        Kinds per row: the paper's 4. If fewer apply to a row, it gets fewer. None: all that apply.
    rng : None, int or Generator
    model : LanguageModel, optional
        The model for perturbations of kind ``llm``.
    source_language : str
        For ``llm``: language of the sources.
    tools : {"bundled", "wordnet", "spacy", "wordnet+spacy"}
        ``bundled``: the package's own lists and rules, so that the result is the same on every machine. The others
        take synonyms from WordNet, or parts of speech and named entities from spaCy, which must be installed.
    n_jobs : int
        Workers of joblib: 1 by default, -1 for all cores.

    Returns
    -------
    DataFrame
        One row per text and perturbation, in the order of ``frame`` and then of `KINDS`: the columns of ``frame`` and
        ``perturbation`` (the kind), ``perturbed`` (the text) and ``resource`` (what made it: ``rules``; ``lexicon``,
        the bundled list, or ``wordnet``, with that list for inflected words; ``spacy:`` and the pipeline; ``frame``,
        words of the table; ``model:`` and the language model).

    Raises
    ------
    TypeError
        If ``frame`` is no DataFrame, or an option of the wrong type.
    ValueError
        If there are no rows, a column is absent or taken, a text is no string, task, kind or tools are unknown or not
        installed, or
        ``n_kinds`` is below 1.

    References
    ----------
    Section 4.2 of Deviyani & Diaz 2025: four random perturbations of each output.

    Examples
    --------
    >>> import pandas as pd
    >>> from mtmeta import perturb
    >>> frame = pd.DataFrame({"system": "a", "segment": [1, 2], "translation": ["She did not wait.", "Yes."]})
    >>> perturb.perturb_table(frame, kinds=["removal", "negation_removal"])[["segment", "perturbation", "perturbed"]]
       segment      perturbation      perturbed
    0        1           removal  did not wait.
    1        1  negation_removal  She did wait.
    """
    check_choice("task", task, KINDS)
    check_choice("tools", tools, ("bundled", "wordnet", "spacy", "wordnet+spacy"))
    if model is not None and not isinstance(model, LanguageModel):
        raise TypeError(f"`model` must be a LanguageModel; found {type(model).__name__}. Make LanguageModel(path).")
    column, language = COLUMN[task], base_language(language)
    chosen = _check_kinds(kinds, task, model)
    shown = {"translation": ["reference", "source"], "speech": ["reference"]}[task] if "llm" in chosen else []
    check_table(frame, texts=[column, *shown], new=_NEW)
    texts = frame[column].tolist()
    n_kinds = len(chosen) if n_kinds is None else check_count("n_kinds", n_kinds, 1)
    used = lexicon.Tools(language, tools)
    named = _resources(used, model)
    wanted = {"named_entity", "composed"} & set(chosen) and task == "translation"
    setting = Setting(vocabulary_of(texts, language), _entities_of(texts, used) if wanted else (), used)
    keys = frame[[*(c for c in ("system", "segment") if c in frame), column]].itertuples(index=False, name=None)
    rows = list(zip(texts, keys, strict=True))
    given = (chosen, n_kinds, task, base_seed(rng), setting)
    calls = (delayed(_some)(rows[i : i + _CHUNK], *given) for i in range(0, len(rows), _CHUNK))
    made = [row for chunk in parallel(check_jobs(n_jobs), calls) for row in chunk]
    if "llm" in chosen:
        about = (task, language, base_language(source_language))
        made = _filled(frame[[column, *shown]], made, n_kinds, about, model)
    flat = [(i, k, t) for i, row in enumerate(made) for k, t in sorted(row, key=lambda r: KINDS[task].index(r[0]))]
    table = frame.iloc[[i for i, *_ in flat]].reset_index(drop=True)
    new = pd.DataFrame([(k, t, named[k]) for _, k, t in flat], columns=list(_NEW), dtype=object)
    return table.assign(**new)


def _filled(
    frame: pd.DataFrame, made: list, n_kinds: int, about: tuple[str, str, str], model: LanguageModel
) -> list[list[tuple[str, str]]]:
    """Ask the model where its kind was drawn; if it returns nothing, use another kind."""
    asked = [i for i, row in enumerate(made) if any(kind == "llm" for kind, _ in row)]
    shown = [(*row, None)[:3] for row in frame.iloc[asked].itertuples(index=False, name=None)]
    prompts = [prompt_of(text, *about, reference, source) for text, reference, source in shown]
    answers = dict(zip(asked, model.perturb([text for text, *_ in shown], prompts), strict=True))
    filled = []
    for i, row in enumerate(made):
        complete = [(k, answers[i] if k == "llm" else t) for k, t in row]
        filled.append([(k, t) for k, t in complete if t is not None][:n_kinds])
    return filled


def _resources(tools: lexicon.Tools, model: LanguageModel | None) -> dict[str, str]:
    """Return what makes the perturbations of each kind."""
    return {
        **dict.fromkeys([*EDITS, "composed"], "rules"),
        "insertion": "frame",
        "synonym": "wordnet" if tools.wordnet else "lexicon",
        **dict.fromkeys(["named_entity", "negation"], tools.tagger),
        "llm": model and f"model:{model.model}",
    }
