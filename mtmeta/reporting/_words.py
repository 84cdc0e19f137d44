"""Numbers and sizes as a page shows them."""

from __future__ import annotations

import math


def number(value: float | None) -> str:
    """Return a number with three decimals, large and whole ones shorter; a dash where there is none."""
    if value is None or math.isnan(value):
        return "–"
    if abs(value) >= 1e15:
        return f"{value:.3g}"
    if abs(value) >= 1000 or (value == int(value) and abs(value) >= 2):
        return f"{value:,.0f}"
    return f"{value:.1g}" if 1e-12 <= abs(value) < 0.001 else f"{value:z.3f}"


def span(low: float, high: float) -> str:
    """Return an interval in words; a dash where there is none."""
    return "–" if math.isnan(low + high) else f"{number(low)} to {number(high)}"


def sample(n: int | None, unit: str) -> str:
    """Return a sample size with the name of its unit, which is given in the plural; nothing where there is none."""
    if n is None:
        return ""
    first, *rest = unit.split(" ")
    return " ".join(filter(None, [f"{n:,}", first.removesuffix("s") if n == 1 else first, *rest]))


def percent(level: float) -> str:
    """Return the level of an interval."""
    return f"{level:.0%}".replace("%", " %")
