"""The text form of programs: `st.program("mean of a formula")`, and `program.text(…)`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from sotto._errors import BadFormula
from sotto._native import Formula, FormulaBuilder

#: Characters of a text at most. A value that is used twice is written twice.
_LONGEST = 1 << 14
#: How strongly the operators bind.
_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 3, 4
_SIGNS = {"add": " + ", "subtract": " - ", "multiply": " * "}


def _constant(values: Any) -> list[int] | list[float]:
    array = np.atleast_1d(np.asarray(values))
    if array.ndim != 1 or array.dtype.kind not in "biuf" or array.size == 0:
        raise BadFormula("a formula's constants are numbers and vectors")
    # A whole number is exact, however it is written.
    if all(float(value).is_integer() and abs(float(value)) < 2.0**53 for value in array):
        return [int(value) for value in array]
    return [float(value) for value in array]


class Traced:
    """A value of a computation that is written down instead of computed."""

    __slots__ = ("_operation", "_operands", "_length")
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, operation: str, operands: tuple[Any, ...], length: int) -> None:
        """Record an operation; `length` is 1 for a single value."""
        self._operation, self._operands, self._length = operation, operands, length

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of the vector; empty for a single value."""
        return () if self._length == 1 else (self._length,)

    def _with(self, operation: str, other: Any, swapped: bool = False) -> Traced:
        if not isinstance(other, Traced):
            values = _constant(other)
            other = Traced("constant", (values,), len(values))
        lengths = {self._length, other._length} - {1}
        if len(lengths) > 1:
            raise BadFormula(f"vectors of {self._length} and {other._length} values")
        pair = (other, self) if swapped else (self, other)
        return Traced(operation, pair, max(self._length, other._length))

    def __add__(self, other: Any) -> Traced:
        """Add."""
        return self._with("add", other)

    def __radd__(self, other: Any) -> Traced:
        """Add to a public value."""
        return self._with("add", other, swapped=True)

    def __sub__(self, other: Any) -> Traced:
        """Subtract."""
        return self._with("subtract", other)

    def __rsub__(self, other: Any) -> Traced:
        """Subtract from a public value."""
        return self._with("subtract", other, swapped=True)

    def __mul__(self, other: Any) -> Traced:
        """Multiply."""
        return self._with("multiply", other)

    def __rmul__(self, other: Any) -> Traced:
        """Multiply a public value."""
        return self._with("multiply", other, swapped=True)

    def __truediv__(self, other: Any) -> Traced:
        """Divide by a public value."""
        return self._with("multiply", 1.0 / np.asarray(other, dtype=np.float64))

    def __neg__(self) -> Traced:
        """Negate."""
        return Traced("negate", (self,), self._length)

    def __pow__(self, exponent: int) -> Traced:
        """Raise to a public whole power."""
        if int(exponent) != exponent or not 1 <= exponent <= 1024:
            raise BadFormula(f"the exponent {exponent!r} is not a whole number from 1 to 1024")
        return Traced("power", (self, int(exponent)), self._length)

    def sum(self) -> Traced:
        """Add all values."""
        if self._length == 1:
            return self
        return Traced("sum", (self, _width(self._length)), 1)

    def mean(self) -> Traced:
        """Average all values."""
        return self.sum() * (1.0 / self._length)

    def polynomial(self, coefficients: Any) -> Traced:
        """Return c0 + c1·x + c2·x² + …"""
        terms: Any = coefficients[0]
        for power, coefficient in enumerate(coefficients):
            if power and coefficient:
                terms = terms + coefficient * self**power
        if not isinstance(terms, Traced):
            raise BadFormula("a polynomial of degree 0 does not depend on its input")
        return terms

    def _unwritten(self, *_: Any, **__: Any) -> NoReturn:
        raise BadFormula(
            "a formula has + - * / **, sum, mean and polynomial of vectors and single values; "
            "owner.plan(f, …) follows every other computation"
        )

    __getitem__ = __matmul__ = __rmatmul__ = var = std = cov = dot = __iter__ = _unwritten
    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __float__ = _unwritten
    __eq__ = __ne__ = _unwritten

    def __getattr__(self, name: str) -> Any:
        """Raise BadFormula."""
        if name.startswith("__"):
            raise AttributeError(name)
        return self._unwritten()


def trace(function: Callable[..., Any], lengths: Sequence[int]) -> tuple[list[str], Traced]:
    """Run a function on symbols; return their names and the result."""
    names = [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    if len(names) < len(lengths):
        raise BadFormula(f"the function takes {len(names)} arguments, not {len(lengths)}")
    names = names[: len(lengths)]
    inputs = [Traced("input", (i,), n) for i, n in enumerate(lengths)]
    result = function(*inputs)
    if not isinstance(result, Traced):
        raise BadFormula(f"the function returns {type(result).__name__}, not an encrypted value")
    return names, result


def _each_once(result: Traced) -> list[Traced]:
    """Return the values in the order of their computation."""
    order: list[Traced] = []
    seen: set[int] = set()
    stack = [(result, False)]
    while stack:
        value, ready = stack.pop()
        if ready:
            order.append(value)
        elif id(value) not in seen:
            seen.add(id(value))
            stack.append((value, True))
            operands = [one for one in value._operands if isinstance(one, Traced)]
            stack.extend((one, False) for one in reversed(operands))
    return order


def built(names: list[str], bounds: Sequence[float], result: Traced) -> Formula:
    """Return the program of a trace."""
    builder = FormulaBuilder()
    for name, bound in zip(names, bounds, strict=True):
        builder.declare(name, bound)
    nodes: dict[int, int] = {}
    for value in _each_once(result):
        operands = [nodes[id(a)] if isinstance(a, Traced) else a for a in value._operands]
        nodes[id(value)] = getattr(builder, value._operation)(*operands)
    return builder.finish(nodes[id(result)])


def written(names: list[str], result: Traced) -> str:
    """Return the text of a trace, in the language of `sotto_program::parse`."""
    texts: dict[int, tuple[str, int]] = {}

    def within(value: Traced, least: int) -> str:
        text, strength = texts[id(value)]
        return text if strength >= least else f"({text})"

    for value in _each_once(result):
        operation, operands = value._operation, value._operands
        if operation == "input":
            text = names[operands[0]], _ATOM
        elif operation == "constant":
            numbers = [repr(number) for number in operands[0]]
            negative = len(numbers) == 1 and numbers[0].startswith("-")
            one = numbers[0] if len(numbers) == 1 else f"[{', '.join(numbers)}]"
            text = one, (_SUM if negative else _ATOM)
        elif operation == "negate":
            text = "-" + within(operands[0], _POWER), _PRODUCT
        elif operation == "power":
            text = f"{within(operands[0], _ATOM)}^{operands[1]}", _POWER
        elif operation == "sum":
            if operands[1] != operands[0]._length and not _zero_padded(operands[0]):
                raise BadFormula(
                    f"a formula sums {operands[1]} places, and the {operands[0]._length} values do "
                    "not leave the others zero: add numbers after the sum, or multiply by "
                    f"np.ones({operands[0]._length}) before it"
                )
            text = f"sum({texts[id(operands[0])][0]}, {operands[1]})", _ATOM
        else:
            left, right = operands
            own = _PRODUCT if operation == "multiply" else _SUM
            text = within(left, own) + _SIGNS[operation] + within(right, own + 1), own
        if len(text[0]) > _LONGEST:
            raise BadFormula(f"the text has more than {_LONGEST} characters: plan the function")
        texts[id(value)] = text
    return texts[id(result)][0]


def _zero_padded(result: Traced) -> bool:
    """Return true if the places behind the values hold zero, as those of inputs do."""
    zero: dict[int, bool] = {}
    for value in _each_once(result):
        parts = [zero[id(one)] for one in value._operands if isinstance(one, Traced)]
        if value._operation == "constant":
            zero[id(value)] = len(value._operands[0]) > 1
        elif value._operation == "sum":
            zero[id(value)] = False
        else:
            zero[id(value)] = any(parts) if value._operation == "multiply" else all(parts)
    return zero[id(result)]


def lengths(inputs: Sequence[Any]) -> list[int]:
    """Return the lengths of inputs that are vectors or single values."""
    if any(len(given.shape) > 1 for given in inputs):
        raise BadFormula("a formula is of vectors and single values: plan the function on tables")
    return [given.shape[0] if given.shape else 1 for given in inputs]


def _width(longest: int) -> int:
    return 1 << (longest - 1).bit_length()


def of(function: Callable[..., Any], text: str | None, inputs: Sequence[Any]) -> Formula:
    """Return the formula of a text or a function on inputs of known lengths and bounds."""
    known, bounds = lengths(inputs), [given.bound for given in inputs]
    if text is None:
        names, result = trace(function, known)
        return built(names, bounds, result)
    names = Formula.names(text)
    if len(names) != len(known):
        raise BadFormula(f"the formula has {len(names)} inputs, {', '.join(names)}")
    return Formula.parse(text, list(zip(names, bounds, strict=True)), _width(max(known)))


def function(text: str) -> Callable[..., Any]:
    """Return the function that computes a text."""
    names = Formula.names(text)
    inputs = [(name, 1.0) for name in names]

    def computed(*arrays: Any) -> Any:
        if len(arrays) != len(names):
            raise BadFormula(f"the formula takes {len(names)} arrays: {', '.join(names)}")
        longest = max([array.shape[0] for array in arrays if np.ndim(array)], default=1)
        return run(Formula.parse(text, inputs, _width(longest)), arrays)

    computed.__name__, computed.__doc__ = "formula", text
    return computed


def run(formula: Formula, arrays: Sequence[Any]) -> Any:
    """Compute a formula on arrays, encrypted or public."""
    values: list[Any] = []
    for operation, *operands in formula.nodes():
        values.append(_run(operation, operands, values, arrays))
    return values[-1]


def _run(operation: str, operands: list[Any], values: list[Any], arrays: Sequence[Any]) -> Any:
    if operation == "input":
        return arrays[operands[0]]
    if operation == "constant":
        numbers = operands[0]
        return numbers[0] if len(numbers) == 1 else np.asarray(numbers)
    if operation == "rotate":
        raise BadFormula("rotate(…) moves slots, which arrays do not show: take values by index")
    first = values[operands[0]]
    if operation == "negate":
        return -first
    if operation == "sum":
        length = first.shape[0] if np.ndim(first) else 1
        if operands[1] < length:
            raise BadFormula(f"sum(…, {operands[1]}) of {length} values: write at least {length}")
        return first.sum() if np.ndim(first) else first
    second = values[operands[1]]
    if operation == "add":
        return first + second
    return first - second if operation == "subtract" else first * second
