"""Owners, who hold the secret key, and evaluators, who do not."""

from __future__ import annotations

import errno
import math
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, cast, overload

import numpy as np

from sotto import _container, _flags
from sotto._array import DetachedArray, EncryptedArray, EncryptedFlags
from sotto._asynchronous import in_thread
from sotto._contexts import LARGEST_INTEGER, Contexts
from sotto._decrypted import Decrypted, assembled
from sotto._errors import NotTrusted, OutOfDepth, OutOfRange, WrongKeys
from sotto._inputs import Range, checked, encrypted
from sotto._native import Public, Secret
from sotto._program import Like, Plan, accurate, planned, trimmed
from sotto._progress import tracked
from sotto._search import parameters_for

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Compared with a dtype faster than `np.int64` is.
_INT64 = np.dtype(np.int64)
#: The answer of a program: an array or flags.
R = TypeVar("R", EncryptedArray, EncryptedFlags)
#: An input of a program that an evaluator runs.
Given = EncryptedArray | DetachedArray


class Options(TypedDict, total=False):
    """Arguments of `Owner.new` beside the accuracy."""

    depth: int | None
    results_within: float | None
    public_inputs: bool
    comparisons: float | None
    integer_range: tuple[int, int] | None


class Parameters(Options, total=False):
    """Arguments of `Owner.new`."""

    error_within: float | str | None
    chain: tuple[int, int] | None


class Owner:
    """The holder of a secret key: encrypts, decrypts, and gives others keys to compute with."""

    def __init__(self) -> None:
        """Raise: `Owner.new()` makes an owner, `Owner.load(path)` reads one."""
        raise TypeError("Owner.new() makes an owner, Owner.load(path) reads one")

    _contexts: Contexts
    _secret: Secret
    _public: Public
    _whole: tuple[Secret, Public] | None
    _making: threading.Lock

    @classmethod
    def _of(cls, contexts: Contexts) -> Owner:
        owner = object.__new__(cls)
        owner._contexts, owner._whole = contexts, None
        owner._making = threading.Lock()
        return owner

    @classmethod
    def new(
        cls,
        depth: int | None = None,
        *,
        error_within: float | str | None = None,
        results_within: float | None = None,
        public_inputs: bool = False,
        comparisons: float | None = None,
        integer_range: tuple[int, int] | None = None,
        chain: tuple[int, int] | None = None,
    ) -> Owner:
        """Make a new secret key.

        Args:
            depth: Products one after another that there is room for. Default: 2. With
                `comparisons`: products before a comparison, by default none.
            error_within: The largest error of a value and of a mean, as a share of the range:
                `1e-9`, or `"0.0000001%"`. Default: 2^-30 of a value, 2^-24 of a mean.
            results_within: The largest absolute value of a whole-number result. Default: 10^10;
                with `integer_range` 32,768.
            public_inputs: Allow answers on data that others encrypted with the public key.
            comparisons: Make room to compare real numbers, `x > limit`, with a gap of this share of
                the largest possible |x - limit|, from 2^-12 to 2^-1: nearer to the limit a value
                may be undecided. Gaps of 2^-4 take n = 16384, smaller ones n = 32768 or 65536.
            integer_range: The lowest and highest whole number of int64 arrays, at most 256 numbers:
                `x > limit` is exact then. Values outside are refused. n is at most 16384.
            chain: The parameters for real numbers that `for_program` chose, from `options`: the
                degree n and the bits of the scale.
        """
        owner = cls._of(
            Contexts(
                depth,
                results_within,
                public_inputs,
                comparisons,
                integer_range,
                error_within,
                chain,
            )
        )
        owner._secret, owner._public = owner._contexts.reals().keys()
        return owner

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        passphrase: str | None = None,
        **parameters: Unpack[Parameters],
    ) -> Owner:
        """Read a key file; the other arguments are those of `new`, from `options` of the owner."""
        if not os.path.exists(path):
            raise FileNotFoundError(errno.ENOENT, "no such key file", os.fspath(path))
        owner = cls._of(Contexts(**parameters))
        owner._secret, owner._public = owner._contexts.reals().keys_from(path, passphrase)
        return owner

    @classmethod
    def for_program(
        cls,
        program: Any,
        *inputs: Like | EncryptedArray,
        error_within: float | str | None = None,
        **options: Unpack[Options],
    ) -> Owner:
        """Make an owner with the smallest parameters on which a computation has room.

        Of parameters that cost the same the most precise are taken.

        Args:
            program: A function of encrypted arrays.
            inputs: Its inputs, `st.like(…)`.
            error_within: The largest error of an answer: in its unit, `1e-3`; or as a share of the
                largest possible answer, `"0.1%"`. Larger parameters are tried until it is met.
            options: Arguments of `new`. With `comparisons` the computation ends with a comparison.
        """
        gap = options.get("comparisons")

        def within_gap(*arrays: Any) -> Any:
            answer = program(*arrays)
            if isinstance(answer, EncryptedFlags) and gap is not None and answer.share > gap:
                raise OutOfDepth(f"a gap of {answer.share:g} has room, {gap:g} is asked")
            return answer

        def dry_run(contexts: Contexts) -> Plan:
            return planned(contexts, within_gap, inputs)

        contexts = parameters_for(dry_run, error_within, dict(options))
        return cls.new(**contexts.options)

    @property
    def options(self) -> Parameters:
        """Arguments of `new` and `load` that give these parameters again."""
        return cast(Parameters, dict(self._contexts.options))

    def save(self, path: str | os.PathLike[str], passphrase: str | None = None) -> None:
        """Write the secret to a new key file, readable by its owner alone."""
        if passphrase == "":
            raise ValueError("an empty passphrase protects nothing: leave it out, or give one")
        self._secret.save(path, passphrase)

    def encrypt(
        self,
        values: Any,
        range: Range | None = None,
        resolution: float | None = None,
    ) -> EncryptedArray:
        """Encrypt an array of numbers of any shape.

        Args:
            values: int64 arrays are computed with exactly, float64 arrays within a bound.
            range: The lowest and highest possible value; everybody sees it. A tighter range gives
                smaller errors. A list of such pairs, one a column, gives every column its own.
                Default: -1000 to 1000.
            resolution: The step of the readings. Values are rounded to it, and so are decrypted
                sums and differences, which are exact then: their bound is 0. If the bound is not
                below half a step, they keep it, and a warning says so.
        """
        whole = self._contexts.integer_range
        if range is None and whole is not None and np.asarray(values).dtype.kind in "biu":
            range = whole
        if resolution is None and range is not None:
            # The usual case, checked and encrypted in one call.
            secret, largest = self._secret, math.inf
            if self._whole is not None and getattr(values, "dtype", None) == _INT64:
                secret, largest = self._whole[0], LARGEST_INTEGER
            row = secret.encrypt_row(values, range, largest)
            if row is not None:
                return EncryptedArray(row, len(row), None, None, ())
        array, bounds = checked(values, range, resolution)
        real = array.dtype.kind == "f"
        secret = self._secret if real else self._integers(float(bounds.max()))[0]
        return encrypted(secret, array, bounds, resolution if real else None)

    @overload
    def decrypt(self, array: EncryptedArray, plan: Plan | None = None) -> Decrypted: ...
    @overload
    def decrypt(
        self, array: EncryptedFlags, plan: Plan | None = None
    ) -> _flags.DecryptedFlags | _flags.ExactFlags: ...
    @overload
    def decrypt(self, array: DetachedArray, plan: Plan | None = None) -> Any: ...
    def decrypt(
        self, array: EncryptedArray | EncryptedFlags | DetachedArray, plan: Plan | None = None
    ) -> Any:
        """Decrypt an array, or the flags of a comparison.

        An array that came as bytes, after others computed on it, needs the plan of the computation,
        which says what an honest answer looks like. Flags become `DecryptedFlags`, those of whole
        numbers `ExactFlags`, an array of bools.
        """
        if plan is None and isinstance(array, EncryptedArray):
            # The usual case, decrypted in one call.
            whole = None if self._whole is None else self._whole[0]
            row = self._secret.decrypt_row(array, whole, Decrypted)
            if row is not None:
                return row
        if not isinstance(array, (EncryptedArray, EncryptedFlags, DetachedArray)):
            raise TypeError(f"{type(array).__name__} is not an encrypted array")
        if plan is not None:
            return self._planned(array, plan)
        if isinstance(array, EncryptedFlags):
            try:
                return array._decrypted(self._keys_of(array))
            except NotTrusted:
                raise NotTrusted(_NO_PLAN) from None
        if not isinstance(array, EncryptedArray):
            raise NotTrusted(_NO_PLAN)
        one = array._vector
        try:
            if one is not None:
                secret = self._secret if one.is_real else self._integers(1.0)[0]
                opened = [secret.decrypt(one)]
            else:
                secret, vectors = self._keys_of(array), array._vectors
                opened = list(tracked(map(secret.decrypt, vectors), len(vectors)))
        except NotTrusted:
            raise NotTrusted(_NO_PLAN) from None
        return assembled(opened, array.shape, array._length, array._grid, array._finish)

    def _planned(
        self, array: EncryptedArray | EncryptedFlags | DetachedArray, plan: Plan
    ) -> Decrypted | _flags.DecryptedFlags | _flags.ExactFlags:
        if not isinstance(array, DetachedArray):
            array = _container.unpack(bytes(array))
        facts = plan._facts
        same = (array._inner, array._length, array._real) == (
            facts.inner,
            facts.length,
            facts.real,
        )
        if not same:
            raise NotTrusted(
                f"the answer is not the one that was planned: its shape is {array.shape}, "
                f"that of the plan {facts.shape}; plan the same program, on inputs of the same "
                "shapes and ranges; if both hold, do not act on it"
            )
        secret = self._secret if facts.real else self._integers(1.0)[0]
        frames = array._frames
        pairs = zip(frames, plan._plans, strict=True)
        if facts.flags:
            flags = (
                secret.decrypt_flags_answer(frame, native)
                if facts.real
                else secret.decrypt_answer(frame, native)[0]
                for frame, native in pairs
            )
            found = list(tracked(flags, len(frames)))
            return _flags.assembled(found, facts.shape, facts.length, facts.gap)
        answers = (secret.decrypt_answer(frame, native) for frame, native in pairs)
        opened = list(tracked(answers, len(frames)))
        return assembled(opened, facts.shape, facts.length, facts.grid, facts.finish)

    def plan(
        self,
        program: Any,
        *inputs: Like | EncryptedArray,
        error_within: float | str | None = None,
    ) -> Plan:
        """Follow a computation without values: its cost, its error, its answer's form.

        Args:
            program: A function of encrypted arrays.
            inputs: Its inputs, `st.like(…)`.
            error_within: Refuse a plan whose answer may be off by more, as in `for_program`.

        Raises:
            OutOfDepth: without room for it, or with a larger error than is asked.
        """
        return accurate(planned(self._contexts, program, inputs), error_within)

    def attach(self, array: DetachedArray) -> EncryptedArray:
        """Give an array that came as bytes the keys to compute with."""
        return array.attach(self._public, None if array._real else self._integers(1.0)[1])

    def public_bundle(self, integers: bool = False) -> bytes:
        """Return the keys that another computer needs to compute; no secret.

        Args:
            integers: Add the keys for whole numbers, if none were encrypted yet.
        """
        if integers:
            self._integers(1.0)
        whole = None if self._whole is None else self._whole[1].to_bytes()
        return _container.pack_keys(self._public.to_bytes(), whole)

    @property
    def key_id(self) -> str:
        """The public name of the key."""
        return str(self._secret.id)

    def _integers(self, bound: float) -> tuple[Secret, Public]:
        if bound > LARGEST_INTEGER:
            raise OutOfRange(f"whole numbers up to {bound:g}: at most 2^40 are encrypted")
        with self._making:
            if self._whole is None:
                self._whole = self._contexts.integers().keys(self._secret)
            return self._whole

    def _keys_of(self, array: EncryptedArray | EncryptedFlags) -> Secret:
        return self._secret if array._real else self._integers(1.0)[0]

    def __repr__(self) -> str:
        """Return the key's public name; never the key."""
        return f"Owner(key {self.key_id[:8]}…, {self._contexts})"

    def __reduce__(self) -> Any:
        """Raise: secrets are not pickled."""
        raise TypeError("an owner holds a secret and is not pickled: owner.save(path)")


_NO_PLAN = (
    "this array came as bytes, and its bound is a claim of its sender: decrypt it with the plan of "
    "its computation, owner.decrypt(answer, owner.plan(function, st.like(shape, range=…)))"
)


class Evaluator:
    """A party that computes and cannot decrypt: it holds an owner's public keys."""

    def __init__(self, bundle: bytes) -> None:
        """Read the bytes of `Owner.public_bundle()`."""
        reals, integers = _container.unpack_keys(bundle)
        self._reals = Public.from_bytes(reals, True)
        self._integers = None if integers is None else Public.from_bytes(integers, False)

    def read(self, data: bytes) -> EncryptedArray:
        """Read the bytes of an encrypted array."""
        # The usual case, read in one call.
        row = Public.read_row(data, self._reals, self._integers)
        if row is not None:
            return EncryptedArray(row, len(row), None, None, ())
        return self.attach(_container.unpack(data))

    def attach(self, array: DetachedArray) -> EncryptedArray:
        """Give an array that came as bytes the keys to compute with."""
        return array.attach(self._reals, self._integers)

    def encrypt(
        self,
        values: Any,
        range: Range | None = None,
        resolution: float | None = None,
    ) -> EncryptedArray:
        """Encrypt with the public key; the owner is one of `public_inputs=True`."""
        array, bounds = checked(values, range, resolution)
        real = array.dtype.kind == "f"
        keys = self._reals if real else self._integers
        if keys is None:
            raise WrongKeys(
                "these keys are for real numbers alone: encrypt the array as float, or take the "
                "owner's public_bundle(integers=True)"
            )
        if not keys.takes_inputs:
            raise WrongKeys(
                "no plan of this owner holds for inputs of others, so no answer is decrypted: "
                "the owner is made with Owner.new(public_inputs=True)"
            )
        return encrypted(keys, array, bounds, resolution if real else None)

    @overload
    def run(self, program: Callable[[EncryptedArray], R], array: Given, /) -> R: ...
    @overload
    def run(
        self, program: Callable[[EncryptedArray, EncryptedArray], R], a: Given, b: Given, /
    ) -> R: ...
    @overload
    def run(
        self, program: Callable[..., R], a: Given, b: Given, c: Given, /, *arrays: Given
    ) -> R: ...
    def run(self, program: Callable[..., Any], *arrays: Given) -> Any:
        """Run a computation, and drop from its answer what the owner does not need.

        Returns:
            The encrypted array, or the encrypted flags, that the program returns.
        """
        attached = (a if isinstance(a, EncryptedArray) else self.attach(a) for a in arrays)
        return trimmed(program(*attached))

    @overload
    async def run_async(self, program: Callable[[EncryptedArray], R], array: Given, /) -> R: ...
    @overload
    async def run_async(
        self, program: Callable[[EncryptedArray, EncryptedArray], R], a: Given, b: Given, /
    ) -> R: ...
    @overload
    async def run_async(
        self, program: Callable[..., R], a: Given, b: Given, c: Given, /, *arrays: Given
    ) -> R: ...
    async def run_async(self, program: Callable[..., Any], *arrays: Given) -> Any:
        """Run like `run` in a thread, without blocking the event loop."""
        return await in_thread(lambda _: self.run(program, *arrays))

    def __repr__(self) -> str:
        """Return the key's public name."""
        return f"Evaluator(key {self._reals.id[:8]}…)"
