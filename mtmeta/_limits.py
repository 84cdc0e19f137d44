"""Limits of counts, seeds and scores, in a module without imports, so that ``--help`` can state them."""

#: Draws, sizes and other counts; processes at a time; seeds.
MAX_COUNT, MAX_JOBS, MAX_SEED = 1_000_000, 512, 2**63 - 1
#: Sizes of scores that are not 0: sums of larger ones overflow, and smaller ones lose their digits.
SMALLEST_SCORE, LARGEST_SCORE = 1e-300, 1e300
