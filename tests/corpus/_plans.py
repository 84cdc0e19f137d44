# ruff: noqa: E501 - the name of a case and what must come of it stay in one place
# fmt: off
"""Plans of `mtmeta sweep`: YAML that is broken, hostile, or asks for too much."""

from mtmeta.sweep import read_plan

from ._case import Case
from ._tables import file

GOOD = "sets: [teaching]\nstatistics: [correlate]\n"
#: Ten lines that would be a billion words.
LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(f"{b}: &{b} [{','.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))


def _plan(name, content, refused=""):
    meaning = {"value": (("teaching",), ("correlate",), (0,))}

    def read(path):
        found = read_plan(path)
        return tuple(s.name for s in found.sets), tuple(name for name, _ in found.statistics), found.seeds

    return Case(f"plan: {name}", file("plan.yaml", content), refused, meaning, read, ("sweep", "{}", "--dry-run", "--quiet"))


def _plans():
    yield _plan("good", GOOD)
    tags = r"could not determine a constructor for the tag"
    for name, value in (
        ("applies a function", "!!python/object/apply:os.system ['touch canary']"), ("makes an object", "!!python/object/new:os.system ['touch canary']"), ("names a function", "!!python/name:os.system"),
        ("imports a module", "!!python/module:antigravity"), ("names an instance", "!!python/object:pathlib.Path {}"), ("is a tuple of Python", "!!python/tuple [1]"), ("is of an unknown tag", "!evil x"),
    ):  # fmt: skip
        yield _plan(f"a value that {name}", f"{GOOD}seeds: {value}\n", tags)
        yield _plan(f"a key that {name}", f"{GOOD}{value}: 1\n" if " [" not in value and " {" not in value else f"{GOOD}? {value}\n: 1\n",
            rf"{tags}|found unhashable key|expected")
    yield _plan("a billion laughs", LAUGHS + GOOD, r"line 1: anchors \(&\) and aliases")
    yield _plan("a list within itself", "sets: &a [*a]\nstatistics: [correlate]\n", r"line 1: anchors")
    yield _plan("a merge key", GOOD + "<<: {seeds: 1}\n", r"merge keys \(<<\) are not allowed")
    yield _plan("nested a thousand deep", "sets: " + "[" * 1000 + "]" * 1000, "nested too deeply")
    yield _plan("ten megabytes", "#" * 10_000_000, r"larger than 100,000 bytes")
    yield _plan("a key twice", GOOD + "sets: [x]\n", r"line 3: 'sets' is given twice")
    for name, text in (("a tab", "sets:\n\t- teaching\n"), ("an open bracket", "sets: [teaching\n"), ("a control character", GOOD + "x: \x07\n")):
        yield _plan(f"broken: {name}", text, r"plan\.yaml: (line \d+: )?.{5,}")
    yield _plan("in Latin-1", GOOD.encode() + b"# \xe4\n", r"not UTF-8")
    for name, text in (
        ("nothing", ""), ("a comment alone", "# x\n"), ("a text", "teaching\n"), ("a list", "[1]\n"), ("a number", "1\n"),
        ("Jinja", "{{ 7*7 }}\n"), ("JSON of another kind", '{"a": 1}\n'),
    ):
        yield _plan(f"is {name}", text, r"plan\.yaml: .*(expected|unknown|no 'sets'|mapping)|unhashable")
    for name, line, says in (
        ("seeds that are negative", "seeds: -1", r"seeds"), ("seeds that are infinite", "seeds: .inf", r"seeds"), ("seeds that are none", "seeds: .nan", r"seeds"), ("seeds of thousands of digits", "seeds: " + "9" * 5000, r"."), ("seeds beyond counting", "seeds: {first: 0, count: 1000000000000}", r"count"),
        ("a seed that is a date", "seeds: 2024-01-01", r"seeds"), ("a date that is none", "seeds: 2024-99-99", r"."), ("seeds that are true", "seeds: yes", r"seeds"), ("an unknown key", "run: rm", r"unknown|'run'"), ("metrics that are a number", "metrics: 1", r"metrics"), ("a metric twice", "metrics: [a, a]", r"'a' is given twice"), ("a name that is NUL", 'metrics: ["\\0"]', r"is no name"),
    ):  # fmt: skip
        yield _plan(name, f"{GOOD}{line}\n", rf"plan\.yaml: .*{says}")
    for name, entry, says in (
        ("a set that is standard input", "'-'", r"standard input"), ("a set that is a number", "1", r"expected"), ("a set that is empty", "''", r"is no name"), ("a simulation of a billion segments", "{simulate: {n_segments: 1000000000}}", r"n_segments"),
        ("a simulation too many", "{simulate: {seeds: {first: 0, count: 99999}, n_systems: [2, 3, 4]}}", r"at most 100,000"), ("a simulation of an unknown kind", "{simulate: {kind: os.system}}", r"kind"), ("a parameter that is code", "{simulate: {n_systems: \"__import__('os')\"}}", r"n_systems"),
    ):  # fmt: skip
        yield _plan(name, f"sets: [{entry}]\nstatistics: [correlate]\n", rf"plan\.yaml: .*sets\[0\].*{says}|{says}")
    for name, entry in (
        ("unknown", "corelate"), ("a dotted name", "os.system"), ("a number", "1"), ("a list", "[correlate]"),
        ("two in one", "{correlate: {}, pairwise_accuracy: {}}"), ("an unknown option", "{correlate: {shell: true}}"),
        ("an unknown choice", "{correlate: {coefficient: r}}"), ("options that are a list", "{correlate: [1]}"),
    ):
        yield _plan(f"a statistic that is {name}", f"sets: [teaching]\nstatistics: [{entry}]\n", r"plan\.yaml: .*statistics\[0\]")


PLANS: tuple[Case, ...] = tuple(_plans())
