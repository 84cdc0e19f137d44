"""Compile a tree into what `mtmeta.simulate` reads: every wording of a sentence and every error in it, as data.

The compiler runs `English` once for each way in which the choices and faults of one part of a sentence can fall out,
and merges what it found into *texts*: lists of words in which a switch on a choice or a fault stands wherever they
differ. The order in which the choices are drawn is kept in the same form. `mtmeta.simulate._wordings` describes both.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from english import Block, Edit, English, Token
from grammar import Sentence, german
from sites import Site, sites

from mtmeta.simulate._sentences import PARTS

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_FLAGS = {"conj": "c", "rel": "c", "a": "a", "owner": "o"}


@dataclass(slots=True)
class Piece:
    """A piece of a part of the sentence, wherever it stands; ``error`` marks what in it has no error of its own."""

    part: int
    number: int
    error: int | None = None
    text: str | None = None
    kind: str = ""


@dataclass
class _Path:
    """One way through a part: the choices to make, those made, and what was drawn and called on the way."""

    plan: list[int]
    made: list[tuple[int, list[list[int]], int]] = field(default_factory=list)
    possible: dict[int, list[int]] = field(default_factory=dict)
    events: list[tuple[str, int]] = field(default_factory=list)


@dataclass
class _Part:
    """A part of the sentence, compiled."""

    number: int
    events: tuple = ()
    pieces: tuple[tuple, ...] = ()
    facts: list[Any] = field(default_factory=list)
    which: tuple = ()
    variable: int | None = None


class _Found(Block):
    """A compiled part, for those who build their own part around it."""

    def __init__(self, compiler: Compiler, part: _Part) -> None:
        super().__init__(tuple([Piece(part.number, k)] for k in range(len(part.pieces))))
        self.compiler, self.part = compiler, part

    def know(self, fact: Callable[[Any], Any]) -> Any:
        """Return a function of the facts, on all ways on which it differs."""
        facts = self.part.facts
        answers = {fact(f) for f in facts}
        if len(answers) == 1:
            return answers.pop()
        if self.part.variable is None:
            self.part.variable = self.compiler.variable(None)
        return self.compiler.ask(self.part.variable, range(len(facts)), lambda i: fact(facts[i]))


class Compiler(English):
    """Follows all choices and all faults of a sentence."""

    def __init__(self, sentence: Sentence, found: Sequence[Site]) -> None:
        super().__init__(sentence)
        self.kinds: list[int | float | None] = []
        self._names: dict[tuple, int] = {}
        self._faults: dict[tuple[int, str], list[Site]] = {}
        for site in found:
            self._faults.setdefault(site.keys[0], []).append(site)
        self._errors = {key: number for number, key in enumerate(self._faults)}
        self._parts: dict[tuple, _Part] = {}
        self.parts: list[_Part] = []
        self._path = _Path([])

    def variable(self, kind: int | float | None) -> int:
        """Return a new variable: a choice among so many, with such a probability, or found out."""
        self.kinds.append(kind)
        return len(self.kinds) - 1

    def ask(self, variable: int, values: Sequence[int], classify: Callable[[int], Hashable]) -> Any:
        """Return the class of a variable's value on this way."""
        path = self._path
        groups: dict[Hashable, list[int]] = {}
        for value in path.possible.get(variable, values):
            groups.setdefault(classify(value), []).append(value)
        if len(groups) == 1:
            return next(iter(groups))
        choice = path.plan[len(path.made)] if len(path.made) < len(path.plan) else 0
        path.made.append((variable, list(groups.values()), choice))
        answer = list(groups)[choice]
        path.possible[variable] = groups[answer]
        return answer

    def _drawn(self, node: Any, label: str, kind: int | float) -> int:
        key = (node.id, label, kind)
        if key not in self._names:
            self._names[key] = self.variable(kind)
        self._path.events.append(("draw", self._names[key]))
        return self._names[key]

    def pick(self, node: Any, label: str, options: Sequence[Any]) -> Any:
        """Return each of ``options`` in turn."""
        if len(options) == 1:
            return options[0]
        number = range(len(options))
        return options[self.ask(self._drawn(node, label, len(options)), number, lambda i: i)]

    def chance(self, node: Any, label: str, probability: float) -> bool:
        """Return no and yes in turn."""
        return bool(self.ask(self._drawn(node, label, float(probability)), range(2), lambda i: i))

    def _fault(self, node: Any, part: str, classify: Callable[[int], Any]) -> Any:
        known = self._faults.get((node.id, part), ())
        return self.ask(~self._errors[node.id, part], range(len(known) + 1), classify) if known else 0

    def edit(self, node: Any, part: str, *slots: str) -> Edit | None:
        """Return nothing and each fault in turn."""
        known = self._faults.get((node.id, part), ())
        found = self._fault(node, part, lambda i: i if i and (not slots or known[i - 1].slot in slots) else 0)
        return Edit(known[found - 1].slot, known[found - 1].value, self._errors[node.id, part]) if found else None

    def fault(self, node: Any, part: str, *slots: str) -> int | None:
        """Return nothing and the error in turn."""
        known = self._faults.get((node.id, part), ())
        found = self._fault(node, part, lambda i: i > 0 and (not slots or known[i - 1].slot in slots))
        return self._errors[node.id, part] if found else None

    def block(self, key: tuple, build: Callable[[], Block]) -> Block:
        """Compile a part, once."""
        key = (*key, self._shifted)
        if key not in self._parts:
            self._parts[key] = self._explored(build)
        self._path.events.append(("call", self._parts[key].number))
        return _Found(self, self._parts[key])

    def _explored(self, build: Callable[[], Block]) -> _Part:
        """Follow every way through a part and merge them."""
        outer, shifted = self._path, self._shifted
        ways: list[tuple[_Path, Block]] = []
        plan: list[int] = []
        while True:
            self._path, self._shifted = _Path(plan), shifted
            ways.append((self._path, build()))
            plan = [choice for _, _, choice in self._path.made]
            while plan and plan[-1] + 1 == len(self._path.made[len(plan) - 1][1]):
                plan.pop()
            if not plan:
                break
            plan[-1] += 1
        self._path, self._shifted = outer, shifted
        part = _Part(len(self.parts))
        self.parts.append(part)
        part.facts = list(dict.fromkeys(block.facts for _, block in ways))
        part.events = _merged(ways, lambda path, block: tuple(path.events))
        part.which = _merged(ways, lambda path, block: (("fact", part.facts.index(block.facts)),))
        part.pieces = tuple(
            _merged(ways, lambda path, block, k=k: tuple(map(_frozen, block.pieces[k])))
            for k in range(len(ways[0][1].pieces))
        )
        return part


def _frozen(token: Token | Piece) -> tuple:
    if isinstance(token, Piece):
        return ("piece", token.part, token.number, token.error)
    flags = _FLAGS.get(token.kind, "") + ("g" if token.glued else "")
    return ("token", token.text, flags, token.error)


def _merged(ways: Sequence[tuple[_Path, Block]], leaf: Callable, depth: int = 0) -> tuple:
    """Return what all ways have as one sequence, with switches where they differ."""
    if len(ways[0][0].made) == depth:
        return leaf(*ways[0])
    variable, groups, _ = ways[0][0].made[depth]
    apart: dict[int, list] = {}
    for way in ways:
        apart.setdefault(way[0].made[depth][2], []).append(way)
    return _switched(variable, [(groups[i], _merged(own, leaf, depth + 1)) for i, own in apart.items()])


def _switched(variable: int, branches: list[tuple[list[int], tuple]]) -> tuple:
    """Return a sequence that is one of the branches; what they have in common stands before and after the switch."""
    contents: dict[tuple, list[int]] = {}
    for values, content in branches:
        contents.setdefault(content, []).extend(values)
    if len(contents) == 1:
        return branches[0][1]
    least = min(map(len, contents))
    start = next((i for i in range(least) if len({c[i] for c in contents}) > 1), least)
    rest = least - start
    end = next((i for i in range(rest) if len({c[-1 - i] for c in contents}) > 1), rest)
    first = next(iter(contents))
    inner = [(sorted(values), c[start : len(c) - end]) for c, values in contents.items()]
    shared = next((x for x in inner[0][1] if all(c.count(x) == 1 for _, c in inner)), None)
    if shared is None:
        middle = (("switch", variable, tuple((tuple(values), c) for values, c in inner)),)
    else:
        before = _switched(variable, [(values, c[: c.index(shared)]) for values, c in inner])
        after = _switched(variable, [(values, c[c.index(shared) + 1 :]) for values, c in inner])
        middle = (*before, shared, *after)
    return (*first[:start], *middle, *first[len(first) - end :])


class Patterns:
    """What the parts of sentences have in common: the same list for all of them, numbered."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def number(self, pattern: Any) -> int:
        """Return the number of a pattern, a new one if it is new."""
        return self.known.setdefault(json.dumps(pattern, ensure_ascii=False), len(self.known))

    def all(self) -> list[Any]:
        """Return the patterns in the order of their numbers."""
        return [json.loads(pattern) for pattern in self.known]


class _Writer:
    """Writes the parts of one compiled sentence: the pattern of each, and what its slots stand for."""

    def __init__(self, compiler: Compiler, patterns: Patterns) -> None:
        self.compiler, self.patterns = compiler, patterns
        self.written: list[list[int]] = []
        self._numbers: dict[int, int] = {}
        self._owners = {p.variable: p.number for p in compiler.parts if p.variable is not None}
        self._slots: list[int] = []
        self._choices: list[int] = []
        self._last = 0

    def part(self, number: int) -> int:
        """Write a part, unless it is written, and return its number in the sentence."""
        if number not in self._numbers:
            part, outer = self.compiler.parts[number], (self._slots, self._choices)
            self._slots, self._choices = [], []
            draws = self._draws(part.events)
            if part.variable is not None:
                draws.append([-1, self._which(part.which)])
            pattern = [draws, *(self._text(piece) for piece in part.pieces)]
            self.written.append([self.patterns.number(pattern), *map(self._coded, self._slots)])
            self._slots, self._choices = outer
            self._numbers[number] = len(self.written) - 1
        return self._numbers[number]

    def _coded(self, meant: int) -> int:
        """Code what a slot means as a difference."""
        if meant >= 0:
            return 2 * (len(self.written) - meant)
        step, self._last = -meant - self._last, -meant
        return 2 * step + 1

    def _slot(self, meant: int) -> int:
        if meant not in self._slots:
            self._slots.append(meant)
        return self._slots.index(meant)

    def _choice(self, variable: int) -> int:
        if variable not in self._choices:
            self._choices.append(variable)
        return self._choices.index(variable)

    def _switch(self, item: tuple, write: Callable[[tuple], list]) -> list:
        _, variable, branches = item
        branches = sorted(branches, key=lambda branch: branch[0])
        classes = {value: number for number, (values, _) in enumerate(branches) for value in values}
        text = "".join(_DIGITS[classes.get(v, 0)] for v in range(max(classes) + 1)).rstrip("0")
        if variable < 0:
            where = ~self._slot(variable)
        elif variable in self._owners:
            where = ~self._slot(self.part(self._owners[variable]))
        else:
            where = self._choice(variable)
        return [where, text, *(write(content) for _, content in branches)]

    def _draws(self, events: tuple) -> list:
        """Return what is drawn, in order."""
        out: list = []
        for item in events:
            if item[0] == "switch":
                out.append(self._switch(item, self._draws))
            elif item[0] == "draw":
                out.append([self._choice(item[1]), self.compiler.kinds[item[1]]])
            elif self.compiler.parts[item[1]].events or self.compiler.parts[item[1]].variable is not None:
                out.append(self._slot(self.part(item[1])))
        return out

    def _which(self, which: tuple) -> list:
        return [self._switch(i, self._which) if i[0] == "switch" else i[1] for i in which]

    def _text(self, content: tuple) -> list:
        """Return words, switches, and pieces of other parts."""
        out: list = []
        for item in content:
            if item[0] == "switch":
                out.append(self._switch(item, self._text))
            elif item[0] == "token":
                _, text, flags, error = item
                word = text
                if flags or text == "" or error is not None:
                    word = f"{text.replace(' ', '_')}|{flags}{'' if error is None else self._slot(~error)}"
                if out and isinstance(out[-1], str):
                    out[-1] += " " + word
                else:
                    out.append(word)
            elif self.compiler.parts[item[1]].pieces[item[2]]:
                error = [] if item[3] is None else [self._slot(~item[3])]
                out.append([self._slot(self.part(item[1])), item[2], *error])
        return out


def compiled(sentence: Sentence, patterns: Patterns) -> list:
    """Return a sentence as `mtmeta.simulate` reads it: source, final mark, parents, sites, what is drawn, parts."""
    found = sites(sentence)
    compiler = Compiler(sentence, [site for own in found for site in own])
    compiler.block(("sentence",), compiler.sentence)
    writer = _Writer(compiler, patterns)
    writer.part(len(compiler.parts) - 1)
    marked = [patterns.number([_coded(site, node) for site in own]) for node, own in enumerate(found)]
    return [german(sentence), sentence.end, sentence.parents, marked, writer.written]


def _coded(site: Site, place: int) -> list:
    """Return a site as a pattern: its keys count from the node where it was found, or the first for punctuation."""
    kind = "drop" if site.slot == "drop" else "careless" if site.slot in ("adjective", "clause", "final") else ""
    place = 0 if site.slot in ("final", "comma") else place
    keys = [(node - place) * 8 + PARTS.index(part) for node, part in site.keys]
    return [kind, site.category, site.odds, site.major, *keys]
