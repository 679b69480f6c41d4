"""Seconds of ridge regression on encrypted rows, and of a logistic model's scores, on one core.

Prints one line a measurement, with the parameters and the machine, and compares the answers with
scikit-learn's. Run it on one core:

    RAYON_NUM_THREADS=1 OMP_NUM_THREADS=1 taskset -c 1 python bindings/python/benches/learn.py
"""

import argparse
import os
import platform
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sotto as st
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def timed(run: Callable[[], Any], times: int = 1) -> tuple[float, Any]:
    """Return the least seconds of several runs, and the last result."""
    least = np.inf
    for _ in range(times):
        start = time.perf_counter()
        result = run()
        least = min(least, time.perf_counter() - start)
    return least, result


def machine() -> str:
    """Return the processor and the number of cores that this process may use."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count()
    return f"{names[0] if names else platform.processor()}, cores: {cores}"


def ridge(rows: int, columns: int) -> None:
    """Fit ridge regression on encrypted rows: keys, encryption, sums and solution."""
    rng = np.random.default_rng(1)
    x = rng.normal(20, 5, (rows, columns)).clip(-10, 50)
    y = (x @ rng.normal(size=columns) + rng.normal(size=rows)).clip(-400, 400)
    centres = np.full(columns, 20.0)
    started = time.process_time()
    keys, owner = timed(lambda: st.Owner.new(depth=1))
    encryption, hidden = timed(
        lambda: (
            owner.encrypt(x - centres, range=(-30, 30)),
            owner.encrypt(y, range=(-400, 400)),
        )
    )
    sums, moments = timed(lambda: st.fit_ridge(*hidden, centres=centres))
    solution, model = timed(lambda: moments.solve(owner))
    busy = time.process_time() - started
    exact = Ridge().fit(x, y)
    off = np.abs(model.coef_ - exact.coef_)
    assert np.all(off <= model.coef_bound_), "a coefficient beyond its bound"
    assert abs(model.intercept_ - exact.intercept_) <= model.intercept_bound_
    print(
        f"ridge {rows} x {columns}: {keys + encryption + sums + solution:.2f} s = keys {keys:.2f} "
        f"+ encryption {encryption:.2f} + sums {sums:.2f} + decryption {solution:.2f} "
        f"({busy:.2f} s of the processor's time); "
        f"coefficients off by {off.max():.1e}, bound {model.coef_bound_.max():.1e}; "
        f"{owner._contexts.reals()}; "
        f"memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB"
    )


def logistic() -> None:
    """Score a full batch by a logistic model of 30 features."""
    rows, labels = load_breast_cancer(return_X_y=True)
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, labels)
    ranges = np.column_stack([rows.min(axis=0), rows.max(axis=0)])
    centres = ranges.mean(axis=1)
    model = st.from_sklearn(fitted, centres=centres)
    ranges -= centres[:, None]
    owner = st.Owner.for_program(model, st.like((4096, 30), range=ranges))
    batch = rows[np.arange(owner._contexts.reals().slots) % len(rows)]
    encryption, hidden = timed(lambda: owner.encrypt(batch - centres, range=ranges), 5)
    scoring, scores = timed(lambda: model(hidden), 20)
    decryption, found = timed(lambda: owner.decrypt(scores), 5)
    equal = (model.predict(found) == fitted.predict(batch)).mean()
    assert equal >= 0.995 and np.abs(found - fitted.decision_function(batch)).max() <= found.bound
    per_row = 1e6 / len(batch)
    print(
        f"logistic, 30 features, {len(batch)} rows: {scoring * per_row:.3f} µs a row; encryption "
        f"{encryption * per_row:.2f}, decryption {decryption * per_row:.3f} µs a row; equal labels "
        f"{equal:.4f}, bound {found.bound:.1e}; {owner._contexts.reals()}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--columns", type=int, default=10)
    given = parser.parse_args()
    print(machine())
    logistic()
    ridge(given.rows, given.columns)
