"""Random programs of NumPy's operations, run on encrypted arrays and beside them in float64.

A program grows line by line while it runs, so each line is one that the keys should have room for:
`LEVELS` has the levels that a line may take. The lines are NumPy's own text, and run as such on
both sides; the clear side computes in long double.
"""

from __future__ import annotations

import math
import os

import numpy as np
import sotto as st

#: Start of all random choices: another one gives other programs.
SEED = int(os.environ.get("SOTTO_SEED", "1"))
#: The longest array, and the most values that a line moves one by one.
LONGEST, MOST_MOVED = 100_000, 24
#: Values of a product with a matrix, in ciphertexts: each column takes rotations of its own.
MOST_SUMMED = 12


class Owners:
    """Owners that all programs share, and the bound on a fresh value of each."""

    def __init__(self):
        """Make none yet."""
        self._made = {}

    def of(self, depth):
        """Return an owner with room for `depth` products, and its fresh bound."""
        if depth not in self._made:
            owner = st.Owner.new(depth=depth)
            self._made[depth] = owner, fresh_bound(owner)
        return self._made[depth]


def fresh_bound(owner):
    """Return the bound on the error of one fresh value, as a share of its range."""
    return owner.decrypt(owner.encrypt([0.5], range=(-1, 1))).bound


class Program:
    """A program with its inputs: `lines`, and the arrays of both sides by name."""

    def __init__(self, owner, rng):
        """Begin without a line."""
        self.owner, self.rng, self.lines = owner, rng, []
        self.hidden, self.clear, self.public = {}, {}, {}
        self.inputs, self.likes = [], []
        #: The largest bound on any value on the way.
        self.largest = 0.0

    # Choices.

    def number(self, low=1e-6, high=1e9):
        """Return a number of either sign, log-uniform; now and then a round one."""
        if self.rng.random() < 0.25:
            return float(self.rng.choice([-1.0, 1.0, 2.0, 0.5, -10.0, 100.0]))
        exponent = self.rng.uniform(math.log10(low), math.log10(high))
        return float(self.rng.choice([-1, 1]) * 10**exponent)

    def length(self):
        """Return a length: log-uniform, near a power of two, or near full ciphertexts."""
        rng, slots = self.rng, self.owner._contexts.reals().slots
        kind = rng.random()
        if kind < 0.25:
            length = 2 ** int(rng.integers(0, 17)) + int(rng.integers(-1, 2))
        elif kind < 0.35:
            length = slots * int(rng.integers(1, 4)) + int(rng.integers(-1, 2))
        else:
            length = round(10 ** rng.uniform(0, math.log10(LONGEST)))
        return min(max(length, 1), LONGEST)

    def values(self, shape):
        """Return values and their range: random, at its ends, or all equal."""
        rng = self.rng
        high = float(10 ** rng.uniform(-3, 6))
        low = [-high, 0.0, -high / 7, high * 0.9][int(rng.integers(4))]
        if rng.random() < 0.2:  # Where a power of two ends.
            high = float(2.0 ** rng.integers(-9, 20))
            low = -high
        kind = rng.random()
        if kind < 0.6:
            found = rng.uniform(low, high, shape)
        elif kind < 0.75:
            found = rng.choice([low, high], shape)
        else:
            found = np.full(shape, rng.choice([low, high, 0.0 if low <= 0 else high]))
        return np.clip(found, low, high), (low, high)

    # Inputs.

    def add_input(self, shape):
        """Encrypt an array; its name is the next of v0, v1, …"""
        values, limits = self.values(shape)
        name = self.named(f"owner.encrypt(values of shape {shape}, range={limits})")
        self.hidden[name] = self.owner.encrypt(values, range=limits)
        self.clear[name] = values.astype(np.longdouble)
        self.inputs.append(name)
        self.likes.append(st.like(shape, range=limits))
        return name

    def add_public(self, values):
        """Name a public array."""
        name = f"p{len(self.public)}"
        self.public[name] = np.asarray(values, dtype=np.float64)
        return name

    def named(self, text):
        """Add a line, and return the name of its result."""
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    # Lines.

    def run(self, text):
        """Run a line on both sides; return the name of its result."""
        clear_public = {name: p.astype(np.longdouble) for name, p in self.public.items()}
        clear = eval(text, {"np": np, **clear_public, **self.clear})
        name = self.named(text)
        hidden = eval(text, {"np": np, **self.public, **self.hidden})
        self.hidden[name], self.clear[name] = hidden, np.asarray(clear, dtype=np.longdouble)
        self.largest = max(self.largest, hidden.magnitude)
        return name

    def again(self, *arrays):
        """Run all lines on these inputs: the program as a function."""
        found = dict(zip(self.inputs, arrays, strict=True))
        for line in self.lines:
            name, text = line.split(" = ", 1)
            if name not in found:
                found[name] = eval(text, {"np": np, **self.public, **found})
        return found[name]

    def text(self):
        """Return the program."""
        public = [f"{name}: public, shape {p.shape}" for name, p in self.public.items()]
        return "\n".join([repr(self.owner), *public, *self.lines])


def offsets(p, x):
    """Return a public array that goes with x: of its shape, a row of it, or zeros."""
    shape = p.clear[x].shape
    if len(shape) == 2 and p.rng.random() < 0.3:
        shape = shape[1:]
    if p.rng.random() < 0.1:
        return p.add_public(np.zeros(shape))
    return p.add_public(p.number(1e-3, 1e6) * p.rng.uniform(-1, 1, shape))


def partner(p, x):
    """Return an array that goes with x: of the same shape, or a single value."""
    fitting = [name for name, array in p.clear.items() if array.shape == ()]
    return str(p.rng.choice([*fitting, twin(p, x), twin(p, x)]))


def twin(p, x):
    """Return an array of the same shape."""
    shape = p.clear[x].shape
    # Single values that were taken out have ciphertexts of their own, rows share them.
    apart = p.hidden[x]._length
    alike = [name for name, array in p.clear.items() if array.shape == shape]
    return str(p.rng.choice([name for name in alike if p.hidden[name]._length == apart]))


def mask(p, x):
    """Return a public array of zeros and ones."""
    return p.add_public(p.rng.integers(0, 2, p.clear[x].shape))


def chosen(p, x):
    """Return indices of rows: a slice, a reversal, a list, a mask or one number."""
    rng, length = p.rng, p.clear[x].shape[0]
    kind = int(rng.integers(5))
    if kind == 0:
        return str(int(rng.integers(-length, length)))
    if kind == 1 and length <= MOST_MOVED:
        return "::-1"
    if kind == 2 and length <= MOST_MOVED:
        return f"::{int(rng.integers(1, 4))}"
    if kind == 3 and length <= MOST_MOVED:
        kept = rng.integers(0, 2, length).astype(bool)
        kept[int(rng.integers(length))] = True
        return str(kept.tolist())
    if kind == 4:
        count = int(rng.integers(1, min(length, MOST_MOVED) + 1))
        return str(rng.integers(-length, length, count).tolist())
    start = int(rng.integers(0, length))
    return f"{start}:{min(start + int(rng.integers(1, MOST_MOVED)), length)}"


def matrix(p, x):
    """Return a product with public weights, over the rows or over the columns."""
    rng, shape = p.rng, p.clear[x].shape
    scale = p.number(1e-3, 1e3)
    if len(shape) == 2 and rng.random() < 0.5:
        wide = (shape[1],) if rng.random() < 0.5 else (shape[1], int(rng.integers(1, 4)))
        return f"{x} @ {p.add_public(scale * rng.uniform(-1, 1, wide))}"
    rows = () if rng.random() < 0.5 else (int(rng.integers(1, 4)),)
    return f"{p.add_public(scale * rng.uniform(-1, 1, (*rows, shape[0])))} @ {x}"


def reduction(name):
    """Return a maker of reductions, along an axis of matrices."""

    def made(p, x):
        axis = "axis=0" if p.clear[x].ndim == 2 and p.rng.random() < 0.7 else ""
        if name in ("mean", "sum") and p.rng.random() < 0.3:
            return f"np.{name}({x}{axis and ', ' + axis})"
        return f"{x}.{name}({axis})"

    return made


def joined(p, x):
    """Put columns beside each other."""
    if p.clear[x].ndim == 2:
        return f"np.concatenate([{x}, {twin(p, x)}], axis=1)"
    return f"np.stack([{x}, {twin(p, x)}], axis=1)"


#: Lines by kind: the text, the weight, and the levels that it may take. Sums of arrays whose units
#: differ by no whole factor take one; products two more, to shrink slots and to multiply out large
#: public numbers.
KINDS = {
    "pair": (lambda p, x: f"{x} {p.rng.choice(['+', '-'])} {partner(p, x)}", 12, 1),
    "product": (lambda p, x: f"{x} * {partner(p, x)}", 8, 4),
    "power": (lambda p, x: f"{x} ** {int(p.rng.integers(2, 5))}", 4, 7),
    "plus": (lambda p, x: f"{x} + {p.number()!r}", 8, 0),
    "from": (lambda p, x: f"{p.number()!r} - {x}", 4, 0),
    "times": (lambda p, x: f"{x} * {p.number()!r}", 8, 0),
    "over": (lambda p, x: f"{x} / {p.number()!r}", 5, 0),
    "minus": (lambda p, x: f"-{x}", 2, 0),
    "zero": (lambda p, x: f"{x} * 0", 1, 0),
    "zeros": (lambda p, x: f"{x} * {p.add_public(np.zeros(p.clear[x].shape))}", 1, 0),
    "plus array": (lambda p, x: f"{x} + {offsets(p, x)}", 6, 0),
    "array minus": (lambda p, x: f"{offsets(p, x)} - {x}", 3, 0),
    "times array": (lambda p, x: f"{x} * {offsets(p, x)}", 5, 2),
    "mask": (lambda p, x: f"{x} * {mask(p, x)}", 3, 2),
    "where": (lambda p, x: f"np.where({mask(p, x)} != 0, {x}, {p.number(1e-3, 1e6)!r})", 3, 2),
    "centred": (lambda p, x: f"{x} - {x}.mean(axis=0)", 3, 3),
    "rows": (lambda p, x: f"{x}[{chosen(p, x)}]", 7, 2),
    "column": (lambda p, x: f"{x}[:, {int(p.rng.integers(p.clear[x].shape[1]))}]", 3, 0),
    "columns": (joined, 3, 0),
    "matrix": (matrix, 6, 3),
    "dot": (lambda p, x: f"{x} @ {twin(p, x)}", 4, 4),
    "sum": (reduction("sum"), 6, 2),
    "mean": (reduction("mean"), 6, 2),
    "var": (reduction("var"), 4, 6),
    "std": (reduction("std"), 4, 6),
}
#: Kinds that a program ends with more often, and those that only end one: the owner takes the root.
ENDS, LAST = ("matrix", "dot", "sum", "mean", "var", "std"), ("std",)
#: Kinds for arrays with rows, and for matrices.
ROWS = ("centred", "rows", "columns", "matrix", "dot", "sum", "mean", "var", "std")
COLUMNS = ("column",)


def fits(p, x, kind):
    """Return True if the kind of line goes with the array, and takes no seconds."""
    clear = p.clear[x]
    parts = math.ceil(clear.size / p.owner._contexts.reals().slots)
    if kind == "dot":
        return clear.ndim == 1
    if kind == "matrix" and parts > MOST_SUMMED:
        return False
    if kind == "columns" and (clear.size > LONGEST or clear.ndim == 2 and clear.shape[1] > 4):
        return False
    return (kind not in ROWS or clear.ndim > 0) and (kind not in COLUMNS or clear.ndim == 2)


def start(owner, rng, longest=LONGEST):
    """Return a program that has inputs alone."""
    p = Program(owner, rng)
    shape = (min(p.length(), longest),)
    if rng.random() < 0.15:
        shape = (max(shape[0] // 3, 1), int(rng.integers(1, 4)))
    for _ in range(int(rng.integers(1, 4))):
        p.add_input(shape)
    return p


def next_line(p, last):
    """Return the text of another line, and the levels that it may take."""
    names = list(p.clear)
    while True:
        # Most lines go on with the last result.
        x = names[-1] if p.rng.random() < 0.7 else str(p.rng.choice(names))
        kinds = [kind for kind in KINDS if fits(p, x, kind) and (last or kind not in LAST)]
        weights = [KINDS[kind][1] * (5 if last and kind in ENDS else 1) for kind in kinds]
        kind = kinds[p.rng.choice(len(kinds), p=np.array(weights) / sum(weights))]
        make, _, levels = KINDS[kind]
        return make(p, x), levels
