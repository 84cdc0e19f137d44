"""Every public function is checked against a second version of it, or says why not."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import mtmeta as mm

#: By reason: names of functions, or of modules that compute no statistic at all.
WHY_NOT = {
    "reads, writes, checks or names; computes no statistic": (
        "book datasets.available datasets.fetch datasets.layouts datasets.read "
        "datasets.load datasets.load_all datasets.load_any datasets.load_rankings "
        "datasets.load_transcripts datasets.locate datasets.path_of datasets.read_table datasets.validate "
        "local_accuracy.metrics_of protocols.decided_by_one "
        "scoring.explain_reference_shape scoring.scorer scoring.signature scoring.tokenizer_of"
    ),
    "puts together statistics that are tested under their own names": (
        "local_accuracy.guide local_accuracy.scored_pairs "
        "protocols.without_each_system reporting.report "
        "significance.drivers significance.power sweep"
    ),
    "returns texts and orders, no numbers, but for shares of what could be perturbed": "perturb",
    "draws what was computed; the tests read the drawn data back": "plots",
    "stored numbers; a test of its own recomputes some": "differences.wmt23_curve",
    "a trained model; its tests compare training with what the libraries give": "sentinel",
    "its own tests compare it with the enumeration of all exchanges": "differences.compare_systems",
    "draws what its own tests check property by property; a second version would be a second simulator": "simulate",
}
NOT_CHECKED = {name for names in WHY_NOT.values() for name in names.split()}
MODULES = [import_module(path.stem) for path in Path(__file__).parent.glob("test_differential_[!c]*.py")]
MODULES.append(import_module("test_differential"))


def test_each_public_function_is_checked_or_says_why_not():
    tests = [(m, f) for m in MODULES for name, f in vars(m).items() if name.startswith("test_")]
    checked = {function for _, test in tests for function in test.checks}
    public = {f"{m}.{n}": getattr(import_module(f"mtmeta.{m}"), n) for m in mm._MODULES
              for n in getattr(import_module(f"mtmeta.{m}"), "__all__", ())}  # fmt: skip
    public = {name: function for name, function in public.items() if inspect.isfunction(function)}
    excused = {name for name in public if {name, name.split(".")[0]} & NOT_CHECKED}
    assert {name for name, function in public.items() if function in checked} == set(public) - excused
    assert checked <= set(public.values())
    assert {*public, *mm._MODULES} >= NOT_CHECKED
    for module, test in tests:
        source = inspect.getsource(module)
        assert [f.__name__ for f in test.checks if not re.search(rf"\b{f.__name__}\(", source)] == [], test
