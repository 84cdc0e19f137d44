"""Sweeps: many sets, metrics, options and seeds, computed by many processes or a cluster.

`read_plan` reads and checks a plan, `tasks` lists its tasks, `run` does them. A task is one set, one statistic, one
combination of options and one seed, and one metric if the function takes one. Outcomes are appended to one file as they
come, so that an interrupted sweep continues where it stopped.

Statistics, with the options of the functions they are named after: `mtmeta.correlate`, `mtmeta.pairwise_accuracy`,
`mtmeta.soft_pairwise_accuracy`, `mtmeta.calibrate_ties`, `mtmeta.compare`, `mtmeta.rank`, `mtmeta.system_dependence`;
``human_tie_share``, ``expected_accuracy``, ``tie_area``, ``subsample_ties`` and ``held_out_calibration`` of
`mtmeta.ties`; ``intervals`` of `mtmeta.significance`; ``compare_with_null`` of `mtmeta.sysdep`;
``aggregate`` of `mtmeta.aggregation`. ``compare_pairs`` gives the p-values of `mtmeta.compare`,
``expected_deviations`` the systems of `mtmeta.system_dependence`.
"""

from ._plan import EXAMPLE, Plan, read_plan
from ._run import Progress, Sweep, listed, run
from ._tasks import Task, tasks

__all__ = ["EXAMPLE", "Plan", "Progress", "Sweep", "Task", "listed", "read_plan", "run", "tasks"]
