"""The simulated transcripts of the book: written once, and read."""

import json

import pandas as pd

from ._random import DATA


def teaching_speech() -> pd.DataFrame:
    """Load the transcripts of the book: 6 systems x 400 segments by 20 speakers, simulated.

    The references are sentences of `campaign`, as they are read out. Every second speaker is of quality ``clean``, the
    others of quality ``other``. Every word of a segment has a difficulty ``d`` (log-normal, mean 1), the same for all
    systems. A system errs there with probability

        1 - exp(-rate[system] * other[system] * rate[speaker] * d),

    where ``other`` counts in other speech only. An error at a content word mishears it in 86 % of cases, loses it in 5
    %, and adds a word after it in 9 %; for function words these are 55, 30 and 15 %. A misheard word becomes a word of
    the same texts that sounds similar, or is respelled if there is none. With probability 0.6 this word is the same for
    all systems.

    Returns
    -------
    pandas.DataFrame
        One row per transcript, systems outermost: ``system``, ``segment`` (speaker and a number),
        ``speaker``, ``quality`` ("clean" or "other"), ``reference``, ``transcript`` and ``truth``, the number
        of word errors that were planted: lower is better. ``attrs`` holds ``name`` and ``truth``: ``seed``,
        ``settings``, and ``system_rate``, ``other_factor`` and ``speaker_rate`` by name.

    See Also
    --------
    teaching_ranking : The simulated rankings of the book.

    Examples
    --------
    >>> from mtmeta import simulate
    >>> table = simulate.teaching_speech()
    >>> len(table), table["speaker"].nunique()
    (2400, 20)
    >>> bool((table["truth"][table["reference"] == table["transcript"]] == 0).all())
    True
    """
    table = pd.read_csv(DATA / "teaching_speech.csv.xz", keep_default_na=False)
    truth = json.loads((DATA / "teaching_speech.json").read_text(encoding="utf-8"))
    table.attrs = {"name": "teaching-speech", "truth": truth}
    return table
