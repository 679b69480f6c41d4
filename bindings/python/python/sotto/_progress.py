"""Progress of long calls: a bar in a terminal and in a notebook, after two seconds."""

from __future__ import annotations

import html
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")

#: Seconds before a bar is shown, and between two pictures of it.
_PATIENCE, _EVERY = 2.0, 0.2
_WIDTH = 30
#: True, False, or None: shown where somebody looks.
_shown: bool | None = None
_running = threading.local()


def show_progress(shown: bool | None = None) -> None:
    """Show progress bars for calls of more than two seconds: always, never, or (None) where stderr
    is a terminal and in notebooks.
    """
    global _shown
    _shown = shown


class _Stage:
    """One call: some steps of equal size, the current one partly done."""

    __slots__ = ("steps", "done", "part", "started", "next", "bar", "within")

    def __init__(self, steps: int, seconds: float = 0.0, within: bool = False) -> None:
        self.steps, self.done, self.part, self.within = steps, 0, 0.0, within
        self.started = time.monotonic() - seconds
        self.next = self.started + _PATIENCE
        self.bar: _Terminal | _Notebook | None = None

    def look(self) -> None:
        now = time.monotonic()
        if now < self.next:
            return
        self.next = now + _EVERY
        if self.bar is None:
            self.bar = _bar()
            if self.bar is None:
                self.next = float("inf")
                return
        share = min((self.done + self.part) / max(self.steps, 1), 1.0)
        self.bar.draw(share, now - self.started)

    def end(self) -> None:
        if self.bar is not None:
            self.bar.end()


def tracked(items: Iterable[T], steps: int) -> Iterator[T]:
    """Yield the items of a call; the outermost call of a thread has the bar."""
    if getattr(_running, "stage", None) is not None:
        yield from items
        return
    stage = _running.stage = _Stage(steps)
    try:
        for item in items:
            stage.done += 1
            stage.part = 0.0
            stage.look()
            yield item
    finally:
        _running.stage = None
        stage.end()


def single(run: Callable[[], T]) -> T:
    """Return the result of a call of one step, like `tracked`."""
    if getattr(_running, "stage", None) is not None:
        return run()
    stage = _running.stage = _Stage(1)
    try:
        return run()
    finally:
        _running.stage = None
        stage.end()


def within(done: int, total: int, seconds: float = 0.0) -> None:
    """Hear of the progress inside a step that has taken some seconds; called by the compiled part
    ten times a second.
    """
    stage: _Stage | None = getattr(_running, "stage", None)
    if stage is None:
        stage = _running.stage = _Stage(1, seconds, within=True)
    # A step of two stages counts the second anew.
    stage.part = max(stage.part, done / max(total, 1))
    stage.look()


def ended() -> None:
    """Hear that a call has ended that had called `within`."""
    stage: _Stage | None = getattr(_running, "stage", None)
    if stage is not None and stage.within:
        _running.stage = None
        stage.end()


def _left(share: float, seconds: float) -> str:
    if share <= 0.0:
        return f"{seconds:.0f} s"
    return f"{seconds:.0f} s, {seconds * (1 - share) / share:.0f} s left"


class _Terminal:
    """A line on stderr, drawn over itself and removed at the end."""

    def draw(self, share: float, seconds: float) -> None:
        filled = round(share * _WIDTH)
        bar = "█" * filled + "░" * (_WIDTH - filled)
        sys.stderr.write(f"\r\x1b[Ksotto {bar} {share:4.0%}  {_left(share, seconds)}")
        sys.stderr.flush()

    def end(self) -> None:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


class _Notebook:
    """An element of a notebook's output, updated in place and removed at the end."""

    def __init__(self, display: Any) -> None:
        self._handle = display({"text/plain": ""}, raw=True, display_id=True)

    def draw(self, share: float, seconds: float) -> None:
        text = html.escape(f"{share:.0%}  {_left(share, seconds)}")
        picture = f"<progress value='{share:.3f}' max='1'></progress> {text}"
        self._update({"text/html": picture, "text/plain": text})

    def end(self) -> None:
        self._update({"text/html": "", "text/plain": ""})

    def _update(self, data: dict[str, str]) -> None:
        if self._handle is not None:
            self._handle.update(data, raw=True)


def _bar() -> _Terminal | _Notebook | None:
    """Return a bar for where the user looks, or None."""
    if _shown is False:
        return None
    # Only a program that runs inside IPython has loaded it.
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is not None and getattr(shell, "kernel", None) is not None:
        from IPython.display import display

        return _Notebook(display)
    if _shown or (sys.stderr is not None and sys.stderr.isatty()):
        return _Terminal()
    return None
