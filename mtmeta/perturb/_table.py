"""Perturbation of one text and of tables of texts."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from .._checks import check_choice, check_count
from .._names import positions
from .._tables import check_table
from ..resampling import base_seed, generator_of
from . import _lexicon as lexicon
from ._edits import EDITS, Setting, vocabulary_of
from ._llm import perturbed_by, prompt_of
from ._words import Words, base_language

_OF_TRANSLATIONS = "removal insertion swapping synonym pronoun named_entity negation negation_removal llm composed"
_OF_SPEECH = "removal insertion swapping phonetic llm composed"
#: Kinds of perturbation by task. ``llm`` needs a language model; ``composed`` stands in for it and is not an LLM.
KINDS = {"translation": tuple(_OF_TRANSLATIONS.split()), "speech": tuple(_OF_SPEECH.split())}
#: What answers prompts.
Model = Callable[[Sequence[str]], Sequence[str]]
#: The column with the text, by task.
COLUMN = {"translation": "translation", "speech": "transcript"}
_NEW = ["perturbation", "perturbed"]
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


def _check_kinds(chosen: Sequence[str] | None, task: str, model: Model | None) -> tuple[str, ...]:
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
    rows: Sequence[tuple[str, tuple, str | None]],
    chosen: Sequence[str],
    n_kinds: int,
    task: str,
    seed: int,
    setting: Setting,
) -> list[list[tuple[str, str]]]:
    """Perturb some rows: a text, its key, and what a language model made of it. Kinds are tried in random order."""
    out = []
    for text, key, by_model in rows:
        words, made = Words(text, setting.tools.language), []
        for kind in generator_of(seed, *key).permutation(np.array(chosen, dtype=object)):
            if len(made) == n_kinds:
                break
            rng = generator_of(seed, *key, kind)
            new = by_model if kind == "llm" else _edit(words, kind, task, setting, rng)
            if new is not None:
                made.append((kind, new))
        out.append(made)
    return out


def _asked(frame: pd.DataFrame, task: str, language: str, source_language: str, model: Model) -> list[str | None]:
    """Return what a language model makes of each text, of which there are columns for the text and what is shown."""
    rows = [(*row, None)[:3] for row in frame.itertuples(index=False, name=None)]
    prompts = [prompt_of(text, task, language, source_language, reference, source) for text, reference, source in rows]
    distinct = sorted(set(prompts))
    answers = dict(zip(distinct, model(distinct), strict=True))
    return [perturbed_by(answers[prompt], text) for prompt, (text, *_) in zip(prompts, rows, strict=True)]


def perturb_table(
    frame: pd.DataFrame,
    *,
    task: str = "translation",
    language: str = "en",
    kinds: Sequence[str] | None = None,
    n_kinds: int | None = 4,
    rng: int | np.random.Generator | None = 0,
    model: Model | None = None,
    source_language: str = "en",
    tools: str = "bundled",
    n_jobs: int = 1,
) -> pd.DataFrame:
    """Make every text of a table slightly worse, by a few kinds of edit drawn at random.

    Everything outside an edit stays the same, byte for byte: case, punctuation, spaces. (The paper compares the output
    as it is with a lower-cased and tokenised perturbation, which a metric that sees case tells apart before it has
    looked at the words.)

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
        Language of the texts. English, German and Russian have word lists; other languages know removal, swapping and
        insertion. In Chinese and Japanese, which have no spaces, a word is a character.
    kinds : sequence of str, optional
        Kinds to sample from; by default all of the task, except ``composed`` if there is a ``model`` and ``llm`` if
        there is none.
    n_kinds : int or None
        Kinds per row: the paper's 4. If fewer apply to a row, it gets fewer. None: all that apply.
    rng : None, int or Generator
    model : LanguageModel or callable, optional
        For kind ``llm``: a function that takes a list of prompts and returns the answers. It is asked about every text.
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
        ``perturbation`` (the kind) and ``perturbed`` (the text).

    Raises
    ------
    TypeError
        If ``frame`` is not a DataFrame, or an option of the wrong type.
    ValueError
        If there are no rows, a column is absent or taken, a text is not a string, task, kind or tools are unknown or
        not installed, or ``n_kinds`` is below 1.

    See Also
    --------
    perturb_rankings : the same for rankings.
    mtmeta.scoring.score_pairs : score texts and their perturbations.
    mtmeta.local_accuracy.guide : both, and what follows from the scores.

    Notes
    -----
    What each kind does:

    - removal: drops a word and one of the spaces around it. Needs two words.
    - insertion: puts a word of the vocabulary at a random place.
    - swapping: exchanges two words that differ. Their capitals move with them.
    - synonym: replaces a word by one of the same group in the bundled list, in the same inflection, or by one that
      shares a WordNet synset.
    - pronoun: replaces a pronoun by another one of its kind: subject by subject, possessive by possessive.
    - named_entity: replaces a name, found by its capitals or by spaCy.
    - negation: adds "not" after an auxiliary or before a verb or adjective; "nicht" after a finite verb, or a
      "k" to an indefinite article; "не" before a verb or adjective. It keeps two words away from any other negation.
    - negation_removal: removes "not", "n't", "never", "kein" or "не", or replaces "nothing" by "something".
    - phonetic (speech, English): replaces letters by others that sound alike, such as f and ph.
    - composed: two or three of the others, one after the other.

    References
    ----------
    Section 4.2 and appendix A.2.2 of Deviyani & Diaz 2025: four random perturbations of each output.

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
    column, language = COLUMN[task], base_language(language)
    chosen = _check_kinds(kinds, task, model)
    shown = {"translation": ["reference", "source"], "speech": ["reference"]}[task] if "llm" in chosen else []
    check_table(frame, texts=[column, *shown], new=_NEW)
    texts = frame[column].tolist()
    n_kinds = len(chosen) if n_kinds is None else check_count("n_kinds", n_kinds, 1)
    used = lexicon.Tools(language, tools)
    wanted = {"named_entity", "composed"} & set(chosen) and task == "translation"
    setting = Setting(vocabulary_of(texts, language), _entities_of(texts, used) if wanted else (), used)
    keys = frame[[*(c for c in ("system", "segment") if c in frame), column]].itertuples(index=False, name=None)
    by_model: list[str | None] = [None] * len(texts)
    if "llm" in chosen:
        by_model = _asked(frame[[column, *shown]], task, language, base_language(source_language), model)
    rows = list(zip(texts, keys, by_model, strict=True))
    given = (chosen, n_kinds, task, base_seed(rng), setting)
    calls = (delayed(_some)(rows[i : i + _CHUNK], *given) for i in range(0, len(rows), _CHUNK))
    made = [row for chunk in Parallel(n_jobs)(calls) for row in chunk]
    flat = [(i, k, t) for i, row in enumerate(made) for k, t in sorted(row, key=lambda r: KINDS[task].index(r[0]))]
    table = frame.iloc[[i for i, *_ in flat]].reset_index(drop=True)
    new = pd.DataFrame([row[1:] for row in flat], columns=_NEW, dtype=object)
    return table.assign(**new)
