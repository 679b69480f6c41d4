"""A picture of a formula's steps for notebooks: inputs on the left, the result on the right."""

from __future__ import annotations

import html

from sotto._native import Formula

_COLUMN, _ROW, _WIDTH, _HEIGHT = 130, 44, 96, 28
#: Larger formulas have no picture.
_MOST = 60
_COLOURS = {"input": "#cfe8d8", "multiply": "#f4d7a8", "sum": "#cfdcf2"}
_SIGNS = {"add": "+", "subtract": "−", "multiply": "×", "negate": "−"}


def _label(operation: str, operands: tuple[object, ...], names: list[str]) -> str:
    if operation == "input":
        return names[int(str(operands[0]))]
    if operation == "constant":
        values = operands[0]
        assert isinstance(values, list)
        return f"{values[0]:.4g}" if len(values) == 1 else f"{len(values)} numbers"
    if operation == "sum":
        return f"sum of {operands[1]}"
    return _SIGNS.get(operation, operation)


def svg(formula: Formula) -> str:
    """Return an SVG element, or nothing for a formula of too many steps."""
    nodes, names = formula.nodes(), formula.inputs
    if len(nodes) > _MOST:
        return ""
    reads = [
        [] if operation in ("input", "constant") else _operands(operation, operands)
        for operation, *operands in nodes
    ]
    columns: list[int] = []
    for read in reads:
        columns.append(1 + max((columns[node] for node in read), default=-1))
    # A constant stands just before its reader.
    for node, read in enumerate(reads):
        for operand in read:
            if nodes[operand][0] == "constant":
                columns[operand] = columns[node] - 1
    filled: dict[int, int] = {}
    places = []
    for column in columns:
        row = filled.get(column, 0)
        filled[column] = row + 1
        places.append((column * _COLUMN + 4, row * _ROW + 4))
    lines = [
        f"<path d='M{places[a][0] + _WIDTH} {places[a][1] + _HEIGHT / 2} "
        f"L{places[node][0]} {places[node][1] + _HEIGHT / 2}' stroke='#888' fill='none'/>"
        for node, read in enumerate(reads)
        for a in dict.fromkeys(read)
    ]
    boxes = [
        f"<rect x='{x}' y='{y}' width='{_WIDTH}' height='{_HEIGHT}' rx='5' stroke='#666' "
        f"fill='{_COLOURS.get(operation, '#eee')}'/><text x='{x + _WIDTH / 2}' "
        f"y='{y + _HEIGHT / 2 + 4}' text-anchor='middle' font-size='12' fill='#222'>"
        f"{html.escape(_label(operation, tuple(operands), names))}</text>"
        for (operation, *operands), (x, y) in zip(nodes, places, strict=True)
    ]
    width = (max(columns) + 1) * _COLUMN
    height = max(filled.values()) * _ROW + 8
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' "
        f"font-family='sans-serif'>{''.join(lines)}{''.join(boxes)}</svg>"
    )


def _operands(operation: str, operands: list[int]) -> list[int]:
    return operands[:1] if operation in ("negate", "rotate", "sum", "sign") else operands[:2]
