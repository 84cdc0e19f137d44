"""Limits of counts, seeds and scores, in a module without imports, so that ``--help`` can state them."""

#: Draws, sizes and other counts; processes at a time; seeds.
MAX_COUNT, MAX_JOBS, MAX_SEED = 1_000_000, 512, 2**63 - 1
#: Sizes of scores that are not 0: fourth powers of these, and products of so many, neither overflow nor vanish.
SMALLEST_SCORE, LARGEST_SCORE = 1e-50, 1e50
