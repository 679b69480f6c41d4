"""The twenty tasks: their inputs, their answers in the clear, and how programs are registered.

A program is a generator. It yields encrypted things that travel: first to the party that computes,
then back to the owner. It returns the decrypted answer.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

Inputs = dict[str, Any]
Program = Callable[..., Generator[Any, Any, Any]]


@dataclass(frozen=True)
class Task:
    """A task: inputs from a random generator and a length, and the answer in the clear."""

    title: str
    inputs: Callable[[np.random.Generator, int], Inputs]
    answer: Callable[..., Any]
    length: int
    #: The answers' range; None for whole numbers, which must be exact.
    span: float | None = 1.0


@dataclass(frozen=True)
class Registered:
    """A program, and the parameters that it needs."""

    program: Program
    levels: int
    whole: bool


def registry() -> tuple[dict[str, Registered], Callable[..., Callable[[Program], Program]]]:
    """Return an empty table of programs, and the decorator that fills it."""
    programs: dict[str, Registered] = {}

    def task(levels: int, whole: bool = False) -> Callable[[Program], Program]:
        def register(program: Program) -> Program:
            programs[program.__name__] = Registered(program, levels, whole)
            return program

        return register

    return programs, task


def _reals(low: float, high: float) -> Callable[[np.random.Generator, int], Inputs]:
    return lambda rng, n: {"x": rng.uniform(low, high, n)}


def _pair(rng: np.random.Generator, n: int) -> Inputs:
    return {"x": rng.uniform(-1, 1, n), "y": rng.uniform(-1, 1, n)}


def _model(columns: int) -> Callable[[np.random.Generator, int], Inputs]:
    return lambda rng, n: {
        "rows": rng.uniform(-1, 1, (n, columns)),
        "weights": rng.normal(0, 1 / np.sqrt(columns), columns),
        "bias": 0.25,
    }


def _centres(rng: np.random.Generator, n: int) -> Inputs:
    return {"rows": rng.uniform(-1, 1, (n, 4)), "centres": rng.uniform(-1, 1, (3, 4))}


def _distances(rows: Any, centres: Any) -> Any:
    return ((rows[:, None, :] - centres) ** 2).sum(axis=2)


def _whole(count: int) -> Callable[[np.random.Generator, int], Inputs]:
    names = ("x", "y")[:count]
    return lambda rng, n: {name: rng.integers(0, 1000, n) for name in names}


def _weighted(rng: np.random.Generator, n: int) -> Inputs:
    return {"x": rng.uniform(-20, 120, n), "weights": rng.uniform(0.1, 1, n)}


def _selected(rng: np.random.Generator, n: int) -> Inputs:
    places = np.sort(rng.choice(n, min(10, n), replace=False))
    return {"x": rng.uniform(-20, 120, n), "places": places}


def _sent(rng: np.random.Generator, n: int) -> Inputs:
    return {"t": rng.uniform(0, 40, n), "h": rng.uniform(0, 100, n)}


TASKS: dict[str, Task] = {
    "round_trip": Task("encrypt, decrypt 4,096 readings", _reals(-20, 120), lambda x: x, 4096, 140),
    "total": Task("sum of 10,000 readings", _reals(0, 100), lambda x: x.sum(), 10_000, 1e6),
    "mean": Task("mean of 10,000", _reals(0, 100), lambda x: x.mean(), 10_000, 100),
    "variance": Task("variance of 10,000", _reals(0, 100), lambda x: x.var(), 10_000, 2500),
    "deviation": Task(
        "standard deviation of 10,000", _reals(0, 100), lambda x: x.std(), 10_000, 50
    ),
    "weighted_mean": Task(
        "weighted mean, public weights",
        _weighted,
        lambda x, weights: np.average(x, weights=weights),
        4096,
        140,
    ),
    "dot": Task("inner product of 4,096", _pair, lambda x, y: x @ y, 4096, 4096),
    "calibration": Task(
        "calibration a·x + b", _reals(-20, 120), lambda x: x * 1.02 - 0.4, 4096, 143
    ),
    "fahrenheit": Task(
        "table of 1,000 × 3, °C to °F",
        lambda rng, n: {"table": rng.uniform(-20, 120, (n, 3))},
        lambda table: table * 1.8 + 32,
        1000,
        252,
    ),
    "cubic": Task(
        "polynomial of degree 3",
        _reals(-1, 1),
        lambda x: 0.1 + x * (0.5 + x * (-0.3 + x * 0.2)),
        4096,
    ),
    "product": Task("product of two columns", _pair, lambda x, y: x * y, 4096),
    "covariance": Task("covariance of two columns", _pair, lambda x, y: np.cov(x, y)[0, 1], 4096),
    "linear": Task(
        "linear model, 500 × 10",
        _model(10),
        lambda rows, weights, bias: rows @ weights + bias,
        500,
        4,
    ),
    "logistic": Task(
        "logistic scores, 569 × 30",
        _model(30),
        lambda rows, weights, bias: 1 / (1 + np.exp(-(rows @ weights + bias))),
        569,
    ),
    "distances": Task("squared distances to 3 centres, 500 × 4", _centres, _distances, 500, 16),
    "exact_sum": Task(
        "exact sum of 8,760 whole kWh", _whole(1), lambda x: int(x.sum()), 8760, None
    ),
    "exact_dot": Task("exact inner product, int64", _whole(2), lambda x, y: int(x @ y), 4096, None),
    "difference": Task(
        "moving difference x[1:] − x[:-1]", _reals(-1, 1), lambda x: np.diff(x), 4096, 2
    ),
    "selection": Task("10 of 1,000 readings", _selected, lambda x, places: x[places], 1000, 140),
    "sending": Task(
        "as bytes to another computer and back",
        _sent,
        lambda t, h: (t * 0.8 + h * t * 0.01 + 46).mean(),
        288,
        118,
    ),
}
