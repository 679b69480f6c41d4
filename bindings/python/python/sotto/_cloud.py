"""Questions to a cloud that stores encrypted readings: the owner's folder, asked from Python."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sotto import _native
from sotto._asynchronous import in_thread
from sotto._errors import QuestionError, SottoError
from sotto._progress import single, within
from sotto._verification import Verification
from sotto._when import When, written

if TYPE_CHECKING:
    from sotto._answer import Answer

#: Called with the number of finished windows (or pieces of work), and their number at most.
Progress = Callable[[int, int], object]
#: Returns True to end the work.
Stop = Callable[[], bool]

#: One lock a plant: two questions at once would write the same files of its folder.
_LOCKS: dict[str, threading.Lock] = {}


class Cloud:
    """An owner's plant, and the cloud that stores and sums its devices' encrypted readings.

    The folder is made by `sotto init`; it holds sotto.toml and the owner's secrets, with which
    answers are decrypted here. The cloud sees ciphertexts and the question's shape.

    `ask` and `answer` need pandas. Questions to one plant run one after another; several threads
    or tasks may share a `Cloud`.
    """

    def __init__(
        self,
        plant: str | os.PathLike[str] | None = None,
        *,
        passphrase_file: str | os.PathLike[str] | None = None,
    ) -> None:
        """Open a plant's folder. Connects to nothing yet.

        Args:
            plant: The folder. Without one: the folder in the environment variable SOTTO_PLANT,
                else the working directory, the nearest plant above it, or the only one in it.
            passphrase_file: The file that holds the plant's passphrase, if it has one. Without it:
                the file in the environment variable SOTTO_PASSPHRASE_FILE, else systemd's
                credential `sotto`, else the key that `sotto unlock` keeps. It is read when a
                question first needs a secret.

        Raises:
            PlantError: The folder is no plant, or its sotto.toml cannot be used.
        """
        if not hasattr(_native, "Plant"):
            raise SottoError(
                "this build has no st.Cloud: build the package with its Cargo feature `cloud`"
            )
        self._plant = _native.Plant(
            plant or os.environ.get("SOTTO_PLANT") or None,
            passphrase_file or os.environ.get("SOTTO_PASSPHRASE_FILE") or None,
        )
        self._lock = _LOCKS.setdefault(os.path.realpath(self._plant.folder), threading.Lock())

    @property
    def folder(self) -> str:
        """The plant's folder."""
        return str(self._plant.folder)

    @property
    def url(self) -> str:
        """The cloud's address."""
        return self._plant.url

    @property
    def channels(self) -> dict[str, dict[str, Any]]:
        """The declared channels by name, each with unit, range, resolution and period."""
        return self._declared("channels")

    @property
    def questions(self) -> dict[str, str]:
        """The texts of the declared questions, by name."""
        return {name: asked["text"] for name, asked in self._declared("questions").items()}

    @property
    def devices(self) -> dict[str, list[str]]:
        """The channels of each declared device, by name."""
        return {name: device["channels"] for name, device in self._declared("devices").items()}

    def ask(
        self,
        question: str,
        *,
        since: When | None = None,
        until: When | None = None,
        keep: bool = True,
        verify: bool = False,
        unchecked: bool = False,
        fetch: int | None = None,
        cache: bool = True,
        progress: Progress | None = None,
    ) -> Answer:
        """Ask a question of the readings that have arrived, and decrypt the answer.

        Ctrl-C ends it before the next request to the cloud, as does an exception of `progress`.

        Args:
            question: A question such as "mean(temperature) by day", or the name of a declared one.
            since: Use only windows from this time on. Strings: 2014-01-31 or 2014-01-31T12:00.
            until: Use only windows that end by this time.
            keep: Keep the answer in the plant's folder, unencrypted; `Cloud.verify` needs that.
            verify: Have the cloud's work on what carries no tags repeated here, so that its values
                are "recomputed". Sums carry tags and are "authenticated" without it.
            unchecked: Return values that nothing has checked. Otherwise they are NaN.
            fetch: Bytes of readings that may come down, for results such as last(x) that are
                computed from them. Default: 8,000,000.
            cache: Take sums of earlier answers, so that new windows alone are asked for, and keep
                those that are opened.
            progress: Called with the number of finished windows, and with how many there are at
                most. Default: a bar, after two seconds.

        Returns:
            A data frame with a row for each group of readings, and for each result a column of
            values and one of bounds.

        Raises:
            QuestionError: The question cannot be read or answered.
            CloudAway: The cloud cannot be reached.
            CloudError: The cloud refuses, or its answer cannot be read.
            NotTrusted: The cloud's answer or log does not fit the question.
            PlantError: A file of the plant cannot be used.
            ImportError: pandas is missing.
        """
        how = (keep, verify, unchecked, fetch, cache)
        return self._ask(question, since, until, how, progress, None)

    async def ask_async(
        self,
        question: str,
        *,
        since: When | None = None,
        until: When | None = None,
        keep: bool = True,
        verify: bool = False,
        unchecked: bool = False,
        fetch: int | None = None,
        cache: bool = True,
        progress: Progress | None = None,
    ) -> Answer:
        """Ask like `ask`, without blocking the event loop.

        A cancelled task stops the work before its next request; the plant stays usable.
        `progress` is called in another thread.
        """
        how = (keep, verify, unchecked, fetch, cache)
        return await in_thread(lambda stop: self._ask(question, since, until, how, progress, stop))

    def _ask(
        self,
        question: str,
        since: When | None,
        until: When | None,
        how: tuple[bool, bool, bool, int | None, bool],
        progress: Progress | None,
        stop: Stop | None,
    ) -> Answer:
        assembled = _assembled()
        begin, end = written(since), written(until)
        hears = progress or within
        keep, verify, unchecked, fetch, cache = how
        with self._lock:
            asked = single(
                lambda: self._plant.ask(
                    question, begin, end, keep, hears, stop, verify, unchecked, fetch, cache
                )
            )
        return assembled(asked)

    def answers(self) -> list[str]:
        """Return the names of the kept answers, oldest first."""
        return self._plant.answers()

    def answer(self, name: str) -> Answer:
        """Return a kept answer.

        Raises:
            PlantError: There is none of this name.
        """
        return _assembled()(self._plant.answer(name))

    def verify(
        self,
        answer: str | Answer | None = None,
        *,
        sample: float = 1.0,
        save: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> Verification:
        """Repeat the cloud's work behind a kept answer, without a secret, and compare.

        Args:
            answer: The answer or its name. Without one: the one kept last.
            sample: Repeat only this part of the work, drawn at random: above 0, at most 1.
            save: Save everything needed to verify, without a secret, to this new folder.
            progress: Called with the pieces of work repeated and their total.

        Returns:
            The findings. Do not act on an answer whose verification does not hold.

        Raises:
            QuestionError: No answer was kept, or the sample is out of range.
            CloudAway: The cloud cannot be reached.
            NotTrusted: The cloud's log contradicts an earlier one.
        """
        return self._verify(answer, sample, save, progress, None)

    async def verify_async(
        self,
        answer: str | Answer | None = None,
        *,
        sample: float = 1.0,
        save: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> Verification:
        """Verify like `verify`, without blocking the event loop."""
        return await in_thread(lambda stop: self._verify(answer, sample, save, progress, stop))

    def _verify(
        self,
        answer: str | Answer | None,
        sample: float,
        save: str | os.PathLike[str] | None,
        progress: Progress | None,
        stop: Stop | None,
    ) -> Verification:
        name = answer if answer is None or isinstance(answer, str) else answer.attrs.get("kept_as")
        if answer is not None and name is None:
            raise QuestionError("this answer was not kept: ask with keep=True, then verify")
        hears = progress or within
        with self._lock:
            done = single(lambda: self._plant.verify(name, sample, save, hears, stop))
        return Verification.read(done)

    def status(self) -> list[dict[str, Any]]:
        """Return devices with the readings that arrived and those that are missing.

        Registers devices that the cloud does not know yet. Trouble of one device does not hide
        the others.

        Returns:
            One dictionary a device: device, windows, bytes, channels with readings, missing,
            from, to, left_out, and troubles with error and exit_code; as `sotto status --json`
            prints them.

        Raises:
            CloudAway: The cloud cannot be reached.
            CloudError: The cloud refuses.
        """
        with self._lock:
            devices: list[dict[str, Any]] = json.loads(self._plant.report("status"))
        return devices

    def plan(self, question: str | None = None) -> dict[str, list[dict[str, Any]]]:
        """Return the encryption that a question takes, with its cost and the reasons.

        Takes seconds: parameters are tried and timed on this computer.

        Args:
            question: A question, or the name of a declared one. Without one: all declared ones.

        Returns:
            For each device its streams: scheme, n, security_bits, bytes_a_window, bytes_of_keys,
            alternatives and more; as `sotto plan --json` prints them.

        Raises:
            QuestionError: The question cannot be read, or no parameters suit it.
        """
        streams: dict[str, list[dict[str, Any]]] = json.loads(self._plant.report("plan", question))
        return streams

    def _declared(self, kind: str) -> dict[str, Any]:
        declared: dict[str, dict[str, Any]] = json.loads(self._plant.report("declared"))
        return declared[kind]

    def __repr__(self) -> str:
        """Return folder and address; never a secret."""
        return f"Cloud({self.folder!r}, {self.url})"


def _assembled() -> Callable[[dict[str, Any]], Answer]:
    """Import what makes data frames: before the cloud is asked in vain."""
    try:
        from sotto._answer import assembled
    except ImportError as error:
        raise ImportError(
            "answers are data frames of pandas 2.2 or later: pip install 'sotto-he[frames]'"
        ) from error
    return assembled
