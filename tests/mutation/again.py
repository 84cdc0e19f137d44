"""Forget the results of mutants that survived without a reason, so that they are tried again: again.py SESSION."""

import sqlite3
import sys

from cosmic_ray.work_db import use_db
from cosmic_ray.work_item import TestOutcome
from mutation_report import described, reasons

if __name__ == "__main__":
    known, session = reasons(), sys.argv[1]
    with use_db(session) as db:
        survivors = [pair for pair in db.completed_work_items if pair[1].test_outcome == TestOutcome.SURVIVED]
    jobs = [(item.job_id,) for item, result in survivors if described(item.mutations[0], result) not in known]
    with sqlite3.connect(session) as db:
        db.executemany("delete from work_results where job_id = ?", jobs)
