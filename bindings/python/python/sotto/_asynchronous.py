"""Work in a thread for asyncio."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[Callable[[], bool]], T]) -> T:
    """Run work in a thread of the event loop's pool.

    The work gets a function that returns True once nobody waits for it any more, because the task
    was cancelled: then it should end soon. Its result is dropped.
    """
    # Imported late: most users of the package never need it.
    import asyncio

    stop = threading.Event()
    try:
        return await asyncio.to_thread(work, stop.is_set)
    finally:
        stop.set()
