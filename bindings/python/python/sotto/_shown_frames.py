"""Decrypted tables of pandas that print their bounds. Needs pandas."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import pandas as pd

from sotto._shown import decimals, margin, number, rounded


class DecryptedFrame(pd.DataFrame):
    """A decrypted table: `attrs["bound"]` has the bound of each column, and `print` shows it.

    Results of pandas' operations are ordinary data frames.
    """

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    def __repr__(self) -> str:
        """Return the table, with digits that end where the bounds begin, and the bounds."""
        table, line = _shown(self)
        return f"{table!r}\n{line}" if line else repr(table)

    def _repr_html_(self) -> str | None:
        table, line = _shown(self)
        page: str | None = table._repr_html_()
        return page if page is None or not line else f"{page}<p>{html.escape(line)}</p>"


class DecryptedSeries(pd.Series):
    """A decrypted column: `attrs["bound"]` is its bound, and `print` shows it."""

    @property
    def _constructor(self) -> Any:
        return pd.Series

    def __repr__(self) -> str:
        """Return the values, with digits that end where the bound begins, and the bound."""
        values, text = _column(pd.Series(self, copy=False), self.attrs.get("bound"))
        return repr(values) if text is None else f"{values!r}\nbound: ± {text}"


def _shown(frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return a table of shown values, and a line of the bounds."""
    plain, bounds = pd.DataFrame(frame, copy=True), frame.attrs.get("bound")
    texts = []
    if isinstance(bounds, dict) and plain.columns.is_unique:
        for name in plain.columns:
            plain[name], text = _column(plain[name], bounds.get(str(name)))
            if text is not None:
                texts.append(f"{name} ± {text}")
    plain.attrs = {}
    return plain, f"bounds: {', '.join(texts)}" if texts else ""


def _column(values: pd.Series, bound: Any) -> tuple[pd.Series, str | None]:
    """Round a column where its bound begins; return it with the bound of what is shown."""
    if not isinstance(bound, float) or values.dtype.kind not in "fi":
        return values, None
    exact = values.to_numpy(dtype=np.float64)
    finite = exact[np.isfinite(exact)]
    largest = float(np.abs(finite).max()) if finite.size else 0.0
    places = decimals(bound, largest)
    if places is None:
        return values, margin(0.0 if bound <= largest * 2.0**-51 else bound)
    off = float(np.abs(rounded(finite, places) - finite).max()) if finite.size else 0.0
    return values.round(max(min(places, 300), -300)), margin(bound + off)


def answer_shown(answer: pd.DataFrame, results: list[str], follows: str) -> pd.DataFrame:
    """Return an answer's table as text: each value ends where its row's bound begins."""
    plain = pd.DataFrame(answer, copy=True)
    for name in results:
        beside = name + follows
        if name not in plain or beside not in plain:
            continue
        pairs = zip(plain[name].to_numpy(), plain[beside].to_numpy(), strict=True)
        plain[name] = [_with_bound(value, bound) for value, bound in pairs]
        plain = plain.drop(columns=beside)
    plain.attrs = {}
    return plain


def _with_bound(value: float, bound: float) -> str:
    if np.isnan(value) or np.isnan(bound):
        return "NaN" if np.isnan(value) else str(value)
    places = decimals(bound, abs(value))
    if places is None:
        return f"{number(value, None)} ± {margin(0.0 if np.isfinite(bound) else bound)}"
    off = abs(rounded(value, places) - value) if np.isfinite(value) else 0.0
    return f"{number(value, places)} ± {margin(bound + off)}"
