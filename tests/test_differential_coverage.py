"""Every public function is checked against a second version of it, or says why not."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import mtmeta as mm

NO_NUMBER = "reads, writes, checks or names; computes no statistic"
DRAWS = "draws what its own tests check property by property; a second version would be a second simulator"
MADE_OF = "puts together statistics that are tested under their own names"
MODEL = "a trained model; its tests compare training with what the libraries give"
#: By name, or by module for modules that compute no statistic at all.
NOT_CHECKED = {
    "aggregation.explain_reference_shape": NO_NUMBER,
    "datasets.available": NO_NUMBER,
    "datasets.fetch": NO_NUMBER,
    "datasets.is_name": NO_NUMBER,
    "datasets.lies_at": NO_NUMBER,
    "datasets.load": NO_NUMBER,
    "datasets.load_all": NO_NUMBER,
    "datasets.load_news": NO_NUMBER,
    "datasets.locate": NO_NUMBER,
    "datasets.read_table": NO_NUMBER,
    "datasets.validate": NO_NUMBER,
    "evalset.as_evalset": NO_NUMBER,
    "exercises": NO_NUMBER,
    "local_accuracy.guide": MADE_OF,
    "local_accuracy.metrics_of": NO_NUMBER,
    "perturb": "returns texts and orders, no numbers, but for shares of what could be perturbed",
    "plots": "draws what was computed; the tests read the drawn data back",
    "published.numbers": "printed numbers, as published",
    "published.recompute": MADE_OF,
    "report.claims": MADE_OF,
    "report.decide": "a rule of four comparisons, tested case by case",
    "report.report": MADE_OF,
    "runner": NO_NUMBER,
    "scoring.available_metrics": NO_NUMBER,
    "scoring.check_references": NO_NUMBER,
    "scoring.explain_reference_shape": NO_NUMBER,
    "scoring.score_neural": MODEL,
    "scoring.score_with_command": NO_NUMBER,
    "scoring.score_ter": "its own tests compare it with sacreBLEU",
    "scoring.scorer": NO_NUMBER,
    "scoring.signature": NO_NUMBER,
    "scoring.train_recommenders": MODEL,
    "sentinel": MODEL,
    "simulate": DRAWS,
    "sweep": MADE_OF,
}


MODULES = [import_module(path.stem) for path in Path(__file__).parent.glob("test_differential_[!c]*.py")]
MODULES.append(import_module("test_differential"))


def test_each_public_function_is_checked_or_says_why_not():
    tests = [(m, f) for m in MODULES for name, f in vars(m).items() if name.startswith("test_")]
    checked = {function for _, test in tests for function in test.checks}
    public = {f"{m}.{n}": getattr(import_module(f"mtmeta.{m}"), n) for m in mm._MODULES
              for n in import_module(f"mtmeta.{m}").__all__}  # fmt: skip
    public = {name: function for name, function in public.items() if inspect.isfunction(function)}
    excused = {name for name in public if {name, name.split(".")[0]} & set(NOT_CHECKED)}
    assert {name for name, function in public.items() if function in checked} == set(public) - excused
    assert checked <= set(public.values())
    assert set(NOT_CHECKED) <= {*public, *mm._MODULES}
    for module, test in tests:
        source = inspect.getsource(module)
        assert [f.__name__ for f in test.checks if not re.search(rf"\b{f.__name__}\(", source)] == [], test
