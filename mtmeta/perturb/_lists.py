"""Closed word lists: pronouns, auxiliaries, negators. English, German, Russian."""

from __future__ import annotations

from collections.abc import Mapping


def _classes(*lines: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(line.split()) for line in lines)


#: Pronouns that can stand in the same place. A form may be in several classes; the first that fits is taken.
PRONOUNS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "en": _classes(
        "i you he she it we they",
        "me him her us them",
        "my your his her its our their",
        "mine yours hers ours theirs",
        "myself yourself himself herself itself ourselves themselves",
        "this that",
        "these those",
    ),
    "de": _classes(
        "ich du er sie es wir",
        "mich dich ihn uns euch",
        "mir dir ihm ihr ihnen",
        *(" ".join(s + e for s in ("mein", "dein", "sein", "ihr", "unser")) for e in ("", "e", "en", "em", "er", "es")),
        *(" ".join(s + e for s in ("dies", "jen")) for e in ("e", "en", "em", "er", "es")),
    ),
    "ru": _classes(
        "я ты он она оно мы вы они",
        "меня тебя его её ее нас вас их",
        "мне тебе ему ей нам вам им",
        "мной тобой ним ней нами вами ними",
        "мой твой наш ваш",
        "моя твоя наша ваша",
        "моё твоё наше ваше",
        "мои твои наши ваши",
        "этот тот",
        "эта та",
        "эти те",
    ),
}

#: What is more often no pronoun, and only takes the place of one.
NO_PRONOUN = frozenset(["that"])
#: A negator goes after these.
AUXILIARIES: Mapping[str, frozenset[str]] = {
    "en": frozenset(
        "am is are was were has have had do does did can could will would shall should may might must".split()
    ),
    "de": frozenset(
        "bin bist ist sind seid war warst waren habe hast hat haben hatte hatten werde wirst wird werden wurde wurden "
        "würde würden kann kannst können könnte könnten konnte konnten muss musst müssen müsste musste mussten soll "
        "sollst sollen sollte sollten will willst wollen wollte wollten darf darfst dürfen durfte durften dürfte mag "
        "mögen möchte möchten".split()
    ),
    "ru": frozenset(),
}
#: A negator goes before these.
BEFORE: Mapping[str, frozenset[str]] = {
    "en": frozenset(),
    "de": frozenset(),
    "ru": frozenset(
        "был была было были будет будут буду будем может могут могу можем мог могла могли хочет хотят хочу хотел "
        "хотела хотели знает знают знаю знал знала знали имеет имеют имел имела имели должен должна должно должны "
        "можно нужно надо готов готова готовы".split()
    ),
}
#: The word that negates.
NEGATOR: Mapping[str, str] = {"en": "not", "de": "nicht", "ru": "не"}
#: What shows that a place is negated already.
NEGATORS: Mapping[str, frozenset[str]] = {
    "en": frozenset("not never no nobody nothing none neither nor cannot without".split()),
    "de": frozenset("nicht nie niemals kein keine keinen keinem keiner keines nichts niemand".split()),
    "ru": frozenset("не ни никогда нет ничего никто".split()),
}
#: What takes the place of a word that negates; an empty string: the word goes.
UNNEGATED: Mapping[str, Mapping[str, str]] = {
    "en": {
        "not": "", "never": "", "no": "", "cannot": "can", "can't": "can", "won't": "will", "shan't": "shall",
        "ain't": "is", "nobody": "somebody", "nothing": "something", "none": "some", "nowhere": "somewhere",
        "nor": "or", "without": "with",
        **{f"{word}n't": word for word in (
            "is are was were has have had do does did could would should might must need ought".split()
        )},
    },
    "de": {
        "nicht": "", "nie": "", "niemals": "", "keinesfalls": "", "keineswegs": "", "nichts": "etwas",
        "niemand": "jemand", "niemanden": "jemanden", "niemandem": "jemandem", "nirgends": "irgendwo",
        "nirgendwo": "irgendwo", "ohne": "mit",
        **{f"kein{ending}": f"ein{ending}" for ending in ("", "e", "en", "em", "er", "es")},
    },
    "ru": {
        "не": "", "ни": "", "никогда": "", "нет": "есть", "ничего": "что-то", "ничто": "что-то", "никто": "кто-то",
        "никого": "кого-то", "нигде": "где-то", "никуда": "куда-то", "без": "с", "нельзя": "можно",
        "невозможно": "возможно",
    },
}  # fmt: skip
#: German articles that take a k.
ARTICLES_DE = frozenset("ein eine einen einem einer eines".split())

#: Words that are no adjectives or verbs although they end like some.
NO_ADJECTIVE = frozenset(
    "festival hospital animal capital journal material proposal approval arrival signal metal total trial rival goal "
    "deal meal music topic public traffic republic critic clinic logic fabric panic table cable wife relative "
    "initiative detective executive representative perspective objective alternative vegetable".split()
)
NO_VERB_RU = frozenset(
    "совет комитет ответ привет бюджет кабинет университет интернет билет свет цвет предмет портрет лет нет авторитет "
    "приоритет кредит лимит визит дефицит материал журнал канал сигнал капитал персонал вокзал зал идеал финал "
    "потенциал фестиваль мать печать память часть власть область новость кровать тетрадь мобил автомобил стиль фильм "
    "школа сила сила скала неделя земли цели части роли доли или если дети сети нити путь суть".split()
)
#: No names, although they have a capital wherever they stand, or in letters and polite address.
NO_ENTITY = frozenset(
    "i i'm i've i'd i'll mr mrs ms dr sir madam ok sie ihnen ihr ihre ihrem ihren ihrer ihres du dich dir dein deine "
    "вы вас вам вами ваш ваша ваше ваши вашего вашей вашу вашим ваших".split()
)
