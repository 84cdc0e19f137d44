"""mtmeta: meta-evaluation of machine-translation metrics.

Names are imported when they are first used, so that ``import mtmeta`` and the command line's
``--help`` do not wait for compilers and plotting libraries.
"""

from importlib import import_module

__version__ = "0.1.0"

_MODULES = """
aggregation agreement book datasets detection differences evalset estimation local_accuracy perturb plots protocols
raters rankings reporting scoring sentinel significance simulate sweep sysdep ties
""".split()
_OWNERS = {
    "agreement": "correlate correlate_groups pairwise_accuracy soft_pairwise_accuracy",
    "datasets": "load load_all",
    "estimation": "estimate",
    "evalset": "EvalSet Texts",
    "protocols": "rank",
    "rankings": "Rankings",
    "reporting": "report",
    "significance": "compare",
    "sysdep": "system_dependence",
    "ties": "calibrate_ties",
}
_NAMES = {name: module for module, names in _OWNERS.items() for name in names.split()}
__all__ = [*_MODULES, *_NAMES]


def __getattr__(name: str) -> object:
    """Import a public name from the module that owns it."""
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name in _NAMES:
        value = getattr(import_module(f".{_NAMES[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names."""
    return sorted([*globals(), *__all__])
