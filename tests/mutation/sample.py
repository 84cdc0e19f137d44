"""Draw the mutants to try from all of a session, and mark the others as skipped: sample.py CONFIG SESSION SIZE."""

import ast
import random
import sys
import types
import warnings
from pathlib import Path

from cosmic_ray.config import load_config
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from cosmic_ray.work_db import use_db
from cosmic_ray.work_item import WorkerOutcome, WorkResult

SEED = 2024


def left_out(source):
    """Return where nothing is worth changing: annotations, what `raise` says, and `strict=True`."""
    nodes = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Raise):
            nodes.append(node)
        elif isinstance(node, ast.keyword) and node.arg == "strict":
            nodes.append(node.value)
        nodes += [a for name in ("annotation", "returns") if (a := getattr(node, name, None)) is not None]
    return [((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)) for node in nodes]


def places(db, modules):
    """Return the mutants of a group by place: file, kind of change, line and column."""
    order, found = list(operator_names()), {}
    every = [(item.mutations[0], item.job_id) for item in db.work_items]
    spans = {path: left_out(path.read_text(encoding="utf-8")) for path in {m.module_path for m, _ in every}}

    def rank(mutant):
        m = mutant[0]
        module = next(k for k, name in enumerate(modules) if str(m.module_path).startswith(name))
        return module, m.module_path, order.index(m.operator_name), m.occurrence

    for m, job in sorted(every, key=rank):
        if not any(start <= m.start_pos < end for start, end in spans[m.module_path]):
            kind = m.operator_name.split("/")[1].split("_")[0]
            found.setdefault((m.module_path, kind, m.start_pos), []).append((m, job))
    return found


def instructions(code):
    inner = [instructions(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    return code.co_code, code.co_names, inner


def is_another_program(mutation):
    """Tell whether a mutant compiles, and to something else."""
    source = mutation.module_path.read_text(encoding="utf-8")
    try:
        mutated = mutate_code(source, get_operator(mutation.operator_name)(), mutation.occurrence)
        return instructions(compile(mutated, "", "exec")) != instructions(compile(source, "", "exec"))
    except (AttributeError, SyntaxError):  # Cosmic Ray cannot change an exception with a dotted name
        return False


def draw(found, rng, size):
    """Return a mutant for each of some places, which are spread evenly over files and kinds of change."""
    every = sorted((place, rng.choice(mutants)) for place, mutants in found.items())
    if size < len(every):
        start, step = rng.random(), len(every) / size
        every = [every[int((start + k) * step)] for k in range(size)]
    return {job for _, (mutation, job) in every if is_another_program(mutation)}


if __name__ == "__main__":
    config, session, size = sys.argv[1:]  # so many places
    warnings.simplefilter("ignore", SyntaxWarning)  # of a mutant such as `x is not 0`
    with use_db(session) as db:
        rng = random.Random(f"{SEED} {Path(config).stem}")
        drawn = draw(places(db, load_config(config)["module-path"]), rng, int(size))
        db.set_multiple_results({i.job_id for i in db.work_items} - drawn, WorkResult(WorkerOutcome.SKIPPED))
