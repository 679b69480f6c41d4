"""Round trips between two processes, for libraries that write objects to bytes: files in a folder, and the clock."""

from pathlib import Path

from clock import nothing, times
from conversation import Unsupported


def written(folder, name, value):
    (Path(folder) / name).write_bytes(value)


def read(folder, name):
    return (Path(folder) / name).read_bytes()


def encrypt(request, keys, encrypted):
    """`encrypted` makes bytes of a list."""
    if request.get("seeded"):
        raise Unsupported
    folder, inputs = request["folder"], request["inputs"]
    written(folder, "keys", keys())
    for name, values in zip("ab", inputs):
        written(folder, name, encrypted(values))
    taken = times(lambda _: encrypted(inputs[0]), nothing, 0, request["repetitions"])
    return {"microseconds": taken, "bytes": len(encrypted(inputs[0]))}


def compute(request, answer):
    """`answer` makes bytes of the operands' bytes and the step."""
    folder = request["folder"]
    a, b = read(folder, "a"), read(folder, "b")
    found = answer(a, b, request["step"])
    written(folder, "answer", found)
    taken = times(lambda _: answer(a, b, request["step"]), nothing, 0, request["repetitions"])
    return {"microseconds": taken, "bytes": len(found)}


def decrypt(request, decrypted):
    """`decrypted` makes a list of bytes."""
    answer = read(request["folder"], "answer")
    output = decrypted(answer)
    return {"microseconds": times(lambda _: decrypted(answer), nothing, 0, request["repetitions"]), "output": output}
