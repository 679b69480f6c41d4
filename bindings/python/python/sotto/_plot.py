"""Charts of answers: results over time, with their bounds. Needs matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from pandas.plotting import PlotAccessor

#: Results with fewer points show each of them.
_FEW = 100


class AnswerPlot(PlotAccessor):
    """`answer.plot`: without arguments a chart with bounds, else the accessor of pandas."""

    def __init__(self, answer: Any) -> None:
        """Take the answer."""
        super().__init__(answer)
        self._answer = answer

    def __call__(self, *args: Any, ax: Any = None, **options: Any) -> Any:
        """Draw every result as a line with a band of its bound, one panel a unit.

        Args:
            args: With any of these or `options`, pandas draws.
            ax: The matplotlib axes to draw in: as many as there are units.
            options: Options of `DataFrame.plot`.

        Returns:
            The axes; several as an array.

        Raises:
            ImportError: matplotlib is missing.
        """
        if args or options:
            return super().__call__(*args, **options, **({} if ax is None else {"ax": ax}))
        return _drawn(self._answer, ax)


def _drawn(answer: Any, ax: Any) -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("answer.plot() needs matplotlib: pip install 'sotto-he[plot]'") from error
    panels: dict[str, list[str]] = {}
    for name, unit in answer.attrs["units"].items():
        panels.setdefault(unit, []).append(name)
    if not panels:
        raise ValueError("there is nothing to draw: no window has arrived for this question")
    if ax is None:
        size = (9, 1.5 + 2.5 * len(panels))
        _, axes = pyplot.subplots(len(panels), sharex=True, squeeze=False, figsize=size)
    else:
        axes = np.atleast_1d(np.asarray(ax, dtype=object))
    axes = axes.ravel()
    if len(axes) != len(panels):
        units = ", ".join(unit or "no unit" for unit in panels)
        raise ValueError(f"the results have {len(panels)} units ({units}): pass as many axes")
    for panel, (unit, names) in zip(axes, panels.items(), strict=True):
        for name in names:
            for device, part in _parts(answer):
                label = f"{name}, {device}" if device else name
                _line(panel, part[name], part[f"{name} ±"], label)
        panel.set_ylabel(unit)
        if len(panel.lines) > 1 or unit == "":
            panel.legend()
    axes[0].set_title(answer.attrs["question"])
    return axes[0] if len(axes) == 1 else axes


def _parts(answer: Any) -> list[tuple[str, Any]]:
    """Return the rows of each device, or all rows."""
    if answer.index.nlevels == 1:
        return [("", answer)]
    devices = answer.index.unique("device")
    return [(str(device), answer.xs(device, level="device")) for device in devices]


def _line(panel: Any, values: pd.Series, bounds: pd.Series, label: str) -> None:
    # Python's datetimes carry the plant's zone to the axis.
    times = values.index.to_pydatetime()
    value, bound = values.to_numpy(), bounds.to_numpy()
    marker = "." if len(value) < _FEW else None
    (line,) = panel.plot(times, value, marker=marker, label=label)
    panel.fill_between(times, value - bound, value + bound, color=line.get_color(), alpha=0.3)
