"""Is one metric better than another, or luckier? Tests of pairs of metrics, rank sets, corrections, intervals."""

from ._compare import METHODS, Comparison, compare  # noqa: F401
from ._decisions import clusters, correct, max_t, rank_sets, share_reached  # noqa: F401
from ._exchange import Units, common_cells, exchange_units, exchanged_coefficients, exchanged_systems, of_segments  # noqa: F401
from ._intervals import bootstrap, intervals, n_added  # noqa: F401
from ._leads import drivers, power
from ._published import null_differences  # noqa: F401

# Names that are not listed here serve other modules of the package.
__all__ = ["Comparison", "clusters", "compare", "correct", "drivers", "intervals", "power", "rank_sets"]
