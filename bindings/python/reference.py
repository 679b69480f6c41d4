"""Writes docs/reference/python.md from the docstrings: `python bindings/python/reference.py`."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs/reference/python.md"

#: Modules beside `sotto` itself.
MODULES = ["sotto.array_api", "sotto.rlwe", "sotto.paillier"]

HEAD = """# Python reference

Made from the docstrings by `python bindings/python/reference.py`.
[The guide](../guides/python.md) comes first.
"""


def _signature(thing: Any, name: str) -> str:
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return name
    parameters = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in parameters]
    text = str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))
    return name + text.replace(", /", "")


def _text(thing: Any) -> list[str]:
    """Return the docstring as paragraphs, examples as code."""
    doc = inspect.getdoc(thing) or ""
    lines: list[str] = []
    code = False
    for line in doc.splitlines():
        example = line.startswith((">>>", "...")) or (code and line.strip() != "")
        if example != code:
            lines += ["```pycon"] if example else ["```", ""]
            code = example
        lines.append(line)
    if code:
        lines.append("```")
    return lines


def _members(thing: type) -> Iterator[tuple[str, Any]]:
    # Members of the package's private base classes are listed with the class.
    bases = [base for base in reversed(thing.__mro__[1:]) if base.__module__ == "sotto._base"]
    members = [member for one in [*bases, thing] for member in vars(one).items()]
    if any(inspect.isgetsetdescriptor(member) for name, member in members if name[0] != "_"):
        # Compiled classes list their properties in no order.
        members.sort(key=lambda one: one[0])
    for name, member in members:
        if name.startswith("_") or inspect.isclass(member):
            continue
        if isinstance(member, property) or inspect.isgetsetdescriptor(member):
            yield name, member
        elif callable(getattr(thing, name)) and inspect.getdoc(getattr(thing, name)):
            yield f"{_signature(getattr(thing, name), name)}", getattr(thing, name)


def _class(name: str, thing: type) -> list[str]:
    lines = [f"### `{name}`", "", *_text(thing), ""]
    if issubclass(thing, Exception):
        return lines
    for signature, member in _members(thing):
        first, *rest = _text(member) or [""]
        lines.append(f"- `{signature}`: {first}")
        lines += [f"  {line}".rstrip() for line in rest]
    return [*lines, ""]


def _public(module: Any) -> list[str]:
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return sorted(listed)
    return sorted(
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and getattr(thing, "__module__", None) == module.__name__
    )


def _module(module: Any) -> list[str]:
    lines = [f"## `{module.__name__}`", "", *_text(module), ""]
    things = {name: getattr(module, name) for name in _public(module)}
    for name, thing in things.items():
        if inspect.isclass(thing):
            lines += _class(name, thing)
        elif callable(thing):
            lines += [f"### `{_signature(thing, name)}`", "", *_text(thing), ""]
    return lines


def page() -> str:
    """Return the page's text."""
    lines = [HEAD]
    for name in ["sotto", *MODULES]:
        lines += _module(importlib.import_module(name))
    text = "\n".join(line.rstrip() for line in lines)
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
