"""JSON for people who compare versions: a list of numbers on one line, everything else one item a line."""

import json


def render(value, indent=""):
    deeper = indent + " "
    if isinstance(value, dict) and value:
        items = [f"{deeper}{json.dumps(key)}: {render(item, deeper)}" for key, item in value.items()]
        return "{\n" + ",\n".join(items) + f"\n{indent}}}"
    if isinstance(value, (list, tuple)) and any(isinstance(item, (list, tuple, dict)) for item in value):
        items = [deeper + render(item, deeper) for item in value]
        return "[\n" + ",\n".join(items) + f"\n{indent}]"
    return json.dumps(value, separators=(",", ":"))
