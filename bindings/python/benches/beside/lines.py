"""Counts lines of code: without comments, docstrings, blank lines and decorators."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

_LAYOUT = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
)


def lines_of(path: Path, task: str | None = None) -> int:
    """Return the lines of a task's function, or those of the file outside of all tasks.

    Not counted outside: imports, the table of programs, and what only the benchmark needs
    (`size`, `key_bytes`).
    """
    text = path.read_text()
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
    tree = ast.parse(text)
    code -= {n for node in ast.walk(tree) for n in _docstring(node)}
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if task is not None:
        return len(code & _span(functions[task]))
    shared = [node for node in functions.values() if not node.decorator_list]
    wanted = [node for node in shared if node.name not in ("size", "key_bytes")]
    return len(code & set().union(*map(_span, wanted)))


def _span(node: ast.FunctionDef) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _docstring(node: ast.AST) -> set[int]:
    body = getattr(node, "body", None)
    first = body[0] if isinstance(body, list) and body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return set()
