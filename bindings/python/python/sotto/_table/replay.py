"""Plans of computations on pandas frames: the owner repeats them without values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sotto._array import DetachedArray, EncryptedArray
from sotto._owner import Owner
from sotto._program import Like, Plan, planned


def plan_frame(function: Callable[[Any], Any], hidden: Any, owner: Owner) -> dict[str, Plan]:
    """Follow a computation on a pandas frame of encrypted rows without values.

    Args:
        function: The computation: takes a frame, returns a frame, a series, or one encrypted
            value. It meets the columns of one kind, real or whole numbers, whichever come first.
        hidden: The frame that you encrypted, or its facts will be somebody's claims.
        owner: The holder of the key.

    Returns:
        The plan of each encrypted column of the result, for `decrypt_frame(…, plans=…)`.
    """
    from sotto._table import cell as _cell
    from sotto._table.frame import EncryptedColumn

    likes: dict[Any, Like] = {}
    for name in hidden.columns:
        column = hidden[name].array
        if isinstance(column, EncryptedColumn) and column._held is not None:
            held = column._held
            label = _cell.label(
                held if isinstance(held, DetachedArray) else DetachedArray(bytes(held))
            )
            likes[name] = Like(label.shape, label.bound, label.real, label.grid)
    if not likes:
        raise TypeError("the frame has no encrypted column: st.encrypt_frame makes them")
    real = next(iter(likes.values())).real
    used = {name: like for name, like in likes.items() if like.real == real}
    others = [name for name in likes if name not in used]
    names: list[str] = []

    def result(which: int, arrays: tuple[EncryptedArray, ...]) -> EncryptedArray:
        frame = hidden.drop(columns=others)
        for name, array in zip(used, arrays, strict=True):
            column = hidden[name].array
            frame[name] = EncryptedColumn(array, column._valid, column._rows)
        found = _columns(function(frame))
        names[:] = list(found)
        return list(found.values())[which]

    def plan(which: int) -> Plan:
        inputs = tuple(used.values())
        return planned(owner._contexts, lambda *arrays: result(which, arrays), inputs)

    plans = [plan(0)]
    plans += [plan(which) for which in range(1, len(names))]
    return dict(zip(names, plans, strict=True))


def _columns(found: Any) -> dict[str, EncryptedArray]:
    """Return the encrypted columns of a result, by name."""
    import pandas as pd

    from sotto._table.frame import EncryptedColumn

    if isinstance(found, EncryptedArray):
        return {"values": found}
    if isinstance(found, pd.Series):
        found = found.to_frame("values" if found.name is None else found.name)
    columns = {}
    if isinstance(found, pd.DataFrame):
        arrays = {str(name): found[name].array for name in found.columns}
        columns = {n: c._array for n, c in arrays.items() if isinstance(c, EncryptedColumn)}
    if not columns:
        raise TypeError("the computation returns a frame or a series with encrypted columns")
    return columns
