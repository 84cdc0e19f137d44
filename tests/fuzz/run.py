"""Fuzz one target with Atheris: python tests/fuzz/run.py TARGET [SECONDS]. Atheris is no dependency of the tests.

It starts from the kept seeds, writes new inputs to _build/fuzz/TARGET, and ends with an error at the first input that
breaks a promise; that input goes into seeds/TARGET with its repair.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent

if __name__ == "__main__":
    import atheris

    sys.path.insert(0, str(HERE.parent))

    modules = [f"mtmeta.{name}" for name in ("datasets", "evalset")]
    with atheris.instrument_imports(include=modules):
        from targets import TARGETS

    name, seconds = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "60"
    found = HERE.parents[1] / "_build" / "fuzz" / name
    found.mkdir(parents=True, exist_ok=True)
    limits = ["-max_len=4096", "-timeout=20", "-rss_limit_mb=4096", f"-artifact_prefix={found}-"]
    places = [str(found), str(HERE / "seeds" / name)]
    atheris.Setup([sys.argv[0], f"-max_total_time={seconds}", *limits, *places], TARGETS[name])
    atheris.Fuzz()
