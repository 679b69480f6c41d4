"""Programs: plain functions whose cost and answer are known before they run."""

from __future__ import annotations

import functools
import html
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from sotto import _formula, _native, _picture
from sotto._accuracy import Accuracy
from sotto._array import EncryptedArray, EncryptedFlags
from sotto._contexts import Contexts
from sotto._decrypted import finished
from sotto._errors import ShapeMismatch
from sotto._native import Formula, Vector
from sotto._parts import objects
from sotto._search import parameters_for

if TYPE_CHECKING:
    from sotto._inputs import Range

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Like:
    """The public facts of an input: shape, bounds on its values, type, resolution."""

    shape: tuple[int, ...]
    bound: float
    real: bool
    grid: float | None = None
    #: The bound of every column, if they differ.
    bounds: tuple[float, ...] | None = None


def like(
    shape: int | tuple[int, ...],
    range: Range | None = None,
    resolution: float | None = None,
    dtype: Any = np.float64,
) -> Like:
    """Describe an input for a plan, with the arguments of `Owner.encrypt`."""
    from sotto._inputs import bounds_of

    axes = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(axis < 1 for axis in axes):
        raise ShapeMismatch(f"shape {axes}: every axis has at least one value")
    real = np.dtype(dtype).kind == "f"
    bounds = tuple(bounds_of(range, axes[1:]).reshape(-1).tolist())
    return Like(
        axes,
        max(bounds),
        real,
        float(resolution) if real and resolution is not None else None,
        bounds,
    )


def _facts(given: Like | EncryptedArray) -> Like:
    if isinstance(given, Like):
        return given
    if given._length is None and given.shape:
        raise TypeError(
            f"the array of shape {given.shape} has no axis in slots: a plan takes arrays as "
            "owner.encrypt makes them, or st.like(shape, range=…)"
        )
    bounds = tuple(float(vector.magnitude) for vector in given._vectors)
    return Like(given.shape, max(bounds), given._real, given._grid, bounds)


@dataclass(frozen=True)
class Facts:
    """The form of an answer."""

    inner: tuple[int, ...]
    length: int | None
    real: bool
    grid: float | None
    finish: tuple[str, float] | None

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return self.inner if self.length is None else (self.length, *self.inner)

    @property
    def flags(self) -> bool:
        """True for the flags of a comparison."""
        return self.finish is not None and self.finish[0] == "flags"

    @property
    def gap(self) -> float | None:
        """The gap of flags of real numbers."""
        return self.finish[1] if self.finish is not None and self.flags and self.real else None


class Plan:
    """The cost of a computation and the form of its answer. The owner decrypts answers by it."""

    def __init__(
        self,
        plans: list[Any],
        facts: Facts,
        context: str,
        formula: Formula | None = None,
    ) -> None:
        """Take the plans of an answer's ciphertexts, and a formula to draw."""
        self._plans, self._facts, self._context = plans, facts, context
        self._formula = formula

    @property
    def bound(self) -> float:
        """A bound on the error of every value of the answer; of flags the distance from 0 or 1."""
        if self._facts.flags:
            return float(max(plan.error_bound for plan in self._plans))
        return max(bound for bound, _ in self._answers)

    @property
    def _answers(self) -> list[tuple[float, float]]:
        """Bounds on errors and on values of each ciphertext, as the owner finishes them."""
        finish = self._facts.finish
        return [finished(plan.error_bound, plan.magnitude, finish) for plan in self._plans]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the answer."""
        return self._facts.shape

    @property
    def answer_bytes(self) -> int:
        """Bytes of the answer's ciphertexts."""
        return sum(plan.answer_bytes for plan in self._plans)

    @property
    def steps(self) -> dict[str, int]:
        """Number of steps by kind."""
        products, plain, rotations = self._plans[0].counts
        return {"products": products, "with public vectors": plain, "rotations": rotations}

    def _rows(self) -> list[tuple[str, str]]:
        error = "exact" if not self._facts.real else f"off by at most {self.bound:.1e}"
        if self._facts.real and self._facts.flags:
            error = f"undecided nearer than {self._facts.gap:.3g} to the limit"
        return [
            ("parameters", self._context),
            *((name, str(count)) for name, count in self.steps.items()),
            ("levels left", str(min(plan.levels_left for plan in self._plans))),
            ("answer", f"shape {self.shape}, {self.answer_bytes} bytes, {error}"),
        ]

    def __repr__(self) -> str:
        """Return a table."""
        return "\n".join(f"{name:<20} {value}" for name, value in self._rows())

    def _repr_html_(self) -> str:
        """Return a table for notebooks, and a picture of the steps."""
        rows = "".join(
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>"
            for name, value in self._rows()
        )
        picture = "" if self._formula is None else _picture.svg(self._formula)
        return f"<table>{rows}</table>{picture}"


class Program(Generic[F]):
    """A computation on encrypted arrays that can be planned before it runs."""

    def __init__(self, function: F, text: str | None = None) -> None:
        """Wrap a function; `text` is the formula that it computes, if it was made of one."""
        functools.update_wrapper(self, function)
        self.function, self._text = function, text

    def __call__(self, *arrays: Any) -> Any:
        """Run the computation."""
        return self.function(*arrays)

    def plan(
        self,
        *inputs: Like | EncryptedArray,
        depth: int | None = None,
        error_within: float | str | None = None,
    ) -> Plan:
        """Follow the computation without values, on the parameters of a depth, by default 2.

        With `error_within` the parameters are those of `Owner.for_program`.
        """
        if error_within is None:
            return planned(Contexts(depth), self, inputs)

        def dry_run(contexts: Contexts) -> Plan:
            return planned(contexts, self, inputs)

        return dry_run(parameters_for(dry_run, error_within, {"depth": depth}))

    def formula(self, *inputs: Like | EncryptedArray) -> Formula:
        """Return the operations on these inputs. Formulas are equal if they compute the same steps.

        Raises:
            BadFormula: for steps that no formula has: indexing, products of matrices.
        """
        return _formula.of(self.function, self._text, [_facts(given) for given in inputs])

    def text(self, *inputs: Like | EncryptedArray) -> str:
        """Return the text form on these inputs: `st.program(text)` makes the same program of it."""
        if self._text is not None:
            return self._text
        lengths = _formula.lengths([_facts(given) for given in inputs])
        return _formula.written(*_formula.trace(self.function, lengths))


@overload
def program(computation: str) -> Program[Callable[..., Any]]: ...
@overload
def program(computation: F) -> Program[F]: ...
def program(computation: Any) -> Program[Any]:
    """Make a `Program` of a function, `@st.program`, or of a formula.

    >>> import sotto as st
    >>> program = st.program("sum(t * h) * 0.01 + 46")
    >>> program.plan(st.like(24, range=(0, 40)), st.like(24, range=(0, 100))).shape
    ()

    A formula takes arrays in the order of its names. `sum(e)` adds all values.
    """
    if not isinstance(computation, str):
        return Program(computation)
    return Program(_formula.function(computation), computation)


@overload
def trimmed(answer: EncryptedArray) -> EncryptedArray: ...
@overload
def trimmed(answer: Any) -> Any: ...
def trimmed(answer: Any) -> Any:
    """Drop the primes that an answer does not need."""
    if not isinstance(answer, (EncryptedArray, EncryptedFlags)):
        raise TypeError(f"a computation returns an encrypted array, not {type(answer).__name__}")
    parts = objects((vector.for_answer() for vector in answer._parts.flat), answer._parts.shape)
    if isinstance(answer, EncryptedFlags):
        return EncryptedFlags._of(parts, answer._length)
    return EncryptedArray._of(
        parts, answer._length, grid=answer._grid, finish=answer._finish, trail=answer._trail
    )


class _EndsInFlags(Exception):
    """The computation is a comparison of real numbers, which has a plan of another kind."""


def planned(contexts: Any, program: Any, inputs: tuple[Like | EncryptedArray, ...]) -> Plan:
    """Run a computation dry."""
    found: list[Facts] = []

    def answer(arrays: list[EncryptedArray]) -> Any:
        answer = trimmed(program(*arrays))
        found.append(
            Facts(answer._parts.shape, answer._length, answer._real, answer._grid, answer._finish)
        )
        return answer

    def computation(arrays: list[EncryptedArray]) -> list[Vector]:
        result = answer(arrays)
        if isinstance(result, EncryptedFlags) and result._real:
            raise _EndsInFlags
        vectors: list[Vector] = result._vectors
        return vectors

    plans: list[Any]
    try:
        context, plans = dry_run(contexts, computation, inputs)
    except _EndsInFlags:
        flags = lambda arrays: answer(arrays)._vectors  # noqa: E731
        context, plans = dry_run(contexts, flags, inputs, flags=True)
    return Plan(plans, found[-1], repr(context), _drawn(program, inputs))


def accurate(plan: Plan, error_within: float | str | None) -> Plan:
    """Return the plan, or refuse it if its answer may be off by more than is asked."""
    asked = None if error_within is None else Accuracy.of(error_within)
    if asked is not None and plan._facts.real and not asked.met_by(plan._answers):
        remedy = "make the owner with Owner.for_program(…, error_within=…)"
        raise asked.refusal(plan._answers, remedy)
    return plan


def _drawn(program: Any, inputs: tuple[Like | EncryptedArray, ...]) -> Formula | None:
    """Return the formula of a computation, if it has one."""
    text = getattr(program, "_text", None)
    try:
        likes = [_facts(given) for given in inputs]
        return _formula.of(getattr(program, "function", program), text, likes)
    except Exception:
        # The picture is for formulas alone; a plan holds for every function, whatever it does to
        # symbols.
        return None


def dry_run(
    contexts: Any,
    computation: Callable[[list[EncryptedArray]], list[Any]],
    inputs: tuple[Like | EncryptedArray, ...],
    flags: bool = False,
) -> tuple[_native.Context, list[Any]]:
    """Run a computation on arrays without values; one plan for each vector that it returns.

    With `flags` it returns flags of real numbers, which have plans of their own.
    """
    if not inputs:
        raise TypeError("a plan needs its inputs: owner.plan(f, st.like(24, range=(0, 60)))")
    likes = [_facts(given) for given in inputs]
    if len({given.real for given in likes}) != 1:
        raise TypeError("a computation is on whole numbers or on real numbers")
    context = contexts.reals() if likes[0].real else contexts.integers()
    lengths = [
        given.shape[0] if given.shape else 1
        for given in likes
        for _ in range(int(np.prod(given.shape[1:], dtype=np.int64)))
    ]

    def run(vectors: list[Vector]) -> list[Any]:
        left = iter(vectors)
        arrays = []
        for given in likes:
            inner = given.shape[1:]
            count = int(np.prod(inner, dtype=np.int64))
            bounds = given.bounds or (given.bound,) * count
            dry = (next(left).as_input_within(bound) for bound in bounds)
            length = given.shape[0] if given.shape else None
            arrays.append(EncryptedArray._of(objects(dry, inner), length, grid=given.grid))
        return computation(arrays)

    return context, (context.plan_flags if flags else context.plan)(lengths, run)
