"""Errors of random programs beside their bounds, and bounds beside the best ones."""

import numpy as np


class Figures:
    """Errors beside bounds, and bounds beside the best ones, by kind of owner."""

    def __init__(self):
        """Begin without an answer."""
        self.refused, self._rows, self._loosest = 0, {}, (0.0, 0)

    def add(self, name, index, error, bound, best):
        """Note the answer of a program. One that is exact counts, and has no quotients."""
        row = (np.nan, np.nan)
        if bound > 0:
            row = (error / bound, bound / best if best else np.nan)
            self._loosest = max(self._loosest, (row[1], index) if best else (0.0, 0))
        self._rows.setdefault(name, []).append(row)

    def table(self):
        """Return lines of quantiles."""
        if not self._rows:
            return []
        titles = ("50 %", "90 %", "99 %", "max")
        head = "".join(f"{title:>10}" for title in titles)
        lines = [f"{'':<22}{'error / bound':^40}  {'bound / best':^40}"]
        lines.append(f"{'owner':<14}{'answers':>8}{head}  {head}")
        everything = [row for rows in self._rows.values() for row in rows]
        for name, rows in [*sorted(self._rows.items()), ("all", everything)]:
            line = f"{name:<14}{len(rows):>8}"
            for column in np.array(rows, dtype=np.float64).T:
                known = column[~np.isnan(column)]
                quantiles = np.quantile(known, [0.5, 0.9, 0.99, 1]) if known.size else [np.nan] * 4
                line += "".join(f"{q:>10.3g}" for q in quantiles) + "  "
            lines.append(line.rstrip())
        loosest = f"the largest bound / best is that of program {self._loosest[1]}"
        return [*lines, f"programs that ran out of levels: {self.refused}; {loosest}"]


#: Of all programs of this run.
FIGURES = Figures()
