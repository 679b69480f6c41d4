"""Decryption of one vector: by a plan, or by the catalog that knows it."""

from __future__ import annotations

from typing import Any

import numpy as np

from sotto._array import DetachedArray, EncryptedArray
from sotto._decrypted import Decrypted
from sotto._errors import NotTrusted
from sotto._owner import Owner
from sotto._program import Plan, trimmed
from sotto._table import cell as _cell
from sotto._table.catalog import Catalog, Entry

NO_CATALOG = (
    "the column came as bytes: decrypt_frame(table, owner, catalog) takes the catalog that you "
    "made of the encrypted table, st.Catalog.of(hidden), before it left"
)
_NO_PLAN = (
    "the column came as bytes, and others computed on it: decrypt it with the plan of the "
    "computation, decrypt_frame(frame, owner, plans=st.plan_frame(function, hidden, owner))"
)


def rows_of(
    array: EncryptedArray | DetachedArray | None,
    rows: np.ndarray[Any, Any],
    name: str,
    owner: Owner,
    catalog: Catalog | None,
    plan: Plan | None,
) -> Decrypted:
    """Decrypt the vector that rows refer to; negative ones are missing."""
    if array is None:
        return Decrypted(np.zeros(1), 0.0)
    if isinstance(array, EncryptedArray):
        if plan is None:
            try:
                return owner.decrypt(array)
            except NotTrusted:
                array = DetachedArray(bytes(array))
        else:
            array = DetachedArray(bytes(array))
    if plan is not None:
        return owner.decrypt(trimmed(owner.attach(array)), plan)
    if catalog is None:
        raise NotTrusted(f"{name}: {NO_CATALOG}")
    digest = _cell.digest(bytes(array))
    if digest not in catalog:
        raise NotTrusted(f"{name}: {_NO_PLAN}")
    entry = catalog.known(digest)
    if entry.keys:
        raise NotTrusted(
            f"{name}: a cell that was encrypted beside {', '.join(entry.keys)} stands for rows "
            "here: do not act on it"
        )
    invented = entry.missing.intersection(rows.tolist())
    if invented:
        raise NotTrusted(
            f"{name}: row {min(invented)} of the vector has a value here, and the catalog lists it "
            "as missing: do not act on it"
        )
    return unchanged(array, entry, name, owner)


def unchanged(array: DetachedArray, entry: Entry, name: str, owner: Owner) -> Decrypted:
    """Decrypt what the owner encrypted, by the plan that computes nothing."""
    if entry.column != name:
        raise NotTrusted(
            f"column {name!r} has a cell that was encrypted as {entry.column!r}: it was renamed or "
            "swapped; do not act on it unless you renamed it"
        )
    plan = owner.plan(lambda array: array, entry.like)
    return owner.decrypt(trimmed(owner.attach(array)), plan)
