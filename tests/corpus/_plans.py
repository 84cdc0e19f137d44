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
    for value in ("!!python/object/apply:os.system ['touch canary']", "!!python/object/new:os.system ['touch canary']", "!!python/name:os.system",
                  "!!python/module:antigravity", "!!python/object:pathlib.Path {}", "!!python/tuple [1]", "!evil x"):  # fmt: skip
        yield _plan(f"a value {value}", f"{GOOD}seeds: {value}\n", tags)
        yield _plan(f"a key {value}", f"{GOOD}? {value}\n: 1\n", rf"{tags}|found unhashable key")
    yield _plan("a billion laughs", LAUGHS + GOOD, r"line 1: anchors \(&\) and aliases")
    yield _plan("a list within itself", "sets: &a [*a]\nstatistics: [correlate]\n", r"line 1: anchors")
    yield _plan("a merge key", GOOD + "<<: {seeds: 1}\n", r"merge keys \(<<\) are not allowed")
    yield _plan("nested a thousand deep", "sets: " + "[" * 1000 + "]" * 1000, "nested too deeply")
    yield _plan("ten megabytes", "#" * 10_000_000, r"larger than 100,000 bytes")
    yield _plan("a key twice", GOOD + "sets: [x]\n", r"line 3: 'sets' is given twice")
    for name, text in (("a tab", "sets:\n\t- teaching\n"), ("an open bracket", "sets: [teaching\n"), ("a control character", GOOD + "x: \x07\n")):
        yield _plan(f"broken: {name}", text, r"plan\.yaml: (line \d+: )?.{5,}")
    yield _plan("in Latin-1", GOOD.encode() + b"# \xe4\n", r"not UTF-8")
    for text in ("", "# x\n", "teaching\n", "[1]\n", "1\n", "{{ 7*7 }}\n", '{"a": 1}\n'):
        yield _plan(f"is {text!r}", text, r"plan\.yaml: .*(expected|unknown|no 'sets'|mapping)|unhashable")
    for line, says in (
        *((f"seeds: {value}", r"seeds") for value in ("-1", ".inf", ".nan", "2024-01-01", "yes")), ("seeds: 2024-99-99", r"."),
        ("seeds: " + "9" * 5000, r"."), ("seeds: {first: 0, count: 1000000000000}", r"count"), ("run: rm", r"unknown|'run'"), ("metrics: 1", r"metrics"),
        ("metrics: [a, a]", r"found more than once: 'a'"), ('metrics: ["\\0"]', r"is no name"),
    ):  # fmt: skip
        yield _plan(f"with {line[:50]}", f"{GOOD}{line}\n", rf"plan\.yaml: .*{says}")
    for entry, says in (
        ("'-'", r"standard input"), ("1", r"expected"), ("''", r"is no name"), ("{simulate: {n_segments: 1000000000}}", r"n_segments"),
        ("{simulate: {seeds: {first: 0, count: 99999}, n_systems: [2, 3, 4]}}", r"at most 100,000"), ("{simulate: {kind: os.system}}", r"kind"),
        ("{simulate: {n_systems: \"__import__('os')\"}}", r"n_systems"),
    ):  # fmt: skip
        yield _plan(f"of the set {entry}", f"sets: [{entry}]\nstatistics: [correlate]\n", rf"plan\.yaml: .*sets\[0\].*{says}|{says}")
    for entry in ("corelate", "os.system", "1", "[correlate]", "{correlate: {}, pairwise_accuracy: {}}", "{correlate: {shell: true}}",
                  "{correlate: {coefficient: r}}", "{correlate: [1]}"):  # fmt: skip
        yield _plan(f"of the statistic {entry}", f"sets: [teaching]\nstatistics: [{entry}]\n", r"plan\.yaml: .*statistics\[0\]")


PLANS: tuple[Case, ...] = tuple(_plans())
