"""Write the first seeds from the corpus: python tests/fuzz/make_seeds.py. What fuzzing found is kept beside them."""

import hashlib
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

if __name__ == "__main__":
    import tempfile

    from corpus import ARCHIVES, OPTIONS, PLANS, TABLES
    from targets import SUFFIXES, TREE

    def keep(target, data):
        folder = HERE / "seeds" / target
        folder.mkdir(parents=True, exist_ok=True)
        if len(data) <= 4096:
            (folder / hashlib.sha256(data).hexdigest()[:12]).write_bytes(data)

    def made(case):
        with tempfile.TemporaryDirectory() as place:
            found = case.make(Path(place))
            return found if isinstance(found, bytes) else Path(found).read_bytes()

    for case in [c for c in TABLES if c.name.startswith(tuple(f"{s}: " for s in SUFFIXES))][::12]:
        keep("table", bytes([SUFFIXES.index(case.name.split(":")[0])]) + made(case))
    for k, text in enumerate(TREE.values()):
        keep("tree", bytes([k]) + text.encode())
    for case in [c for c in ARCHIVES if c.name.startswith("pickle: ")][::4]:
        keep("pickle", made(case))
    for case in [c for c in ARCHIVES if c.name.startswith(("zip: ", "tar: ")) and "bomb" not in c.name][::4]:
        keep("archive", made(case))
    for case in PLANS[::4]:
        keep("plan", made(case))
    for usage in OPTIONS[::8]:
        keep("command", "\n".join(usage.line).encode())
    keep("mqm", b"\0A\t1\tr\tOne.\t<v>Eins</v>.\tFluency/Punctuation\tMinor\nB\t1\tr\tOne.\tEin.\tNo-error\tNo-error\n")
    keep("mqm", b"\1A 0 1\nA None 2\nB -5 1\nrefA 0 1\n")
