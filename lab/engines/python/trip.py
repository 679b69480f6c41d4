"""Steps of round trips between two processes, for libraries that write objects to bytes: files in a folder, and
times."""

from pathlib import Path

from clock import nothing, times
from conversation import Unsupported


def written(folder, name, value):
    (Path(folder) / name).write_bytes(value)


def read(folder, name):
    return (Path(folder) / name).read_bytes()


def encrypt(request, keys, encrypted):
    """The edge's first step. `encrypted` encrypts a list to bytes."""
    if request.get("seeded"):
        raise Unsupported
    folder, inputs = request["folder"], request["inputs"]
    written(folder, "keys", keys())
    for name, values in zip("ab", inputs):
        written(folder, name, encrypted(values))
    taken = times(lambda _: encrypted(inputs[0]), nothing, 0, request["repetitions"])
    return {"microseconds": taken, "bytes": len(encrypted(inputs[0]))}


def compute(request, answer):
    """The cloud's step. `answer` computes bytes from the operands' bytes and the step's name."""
    folder = request["folder"]
    a, b = read(folder, "a"), read(folder, "b")
    found = answer(a, b, request["step"])
    written(folder, "answer", found)
    taken = times(lambda _: answer(a, b, request["step"]), nothing, 0, request["repetitions"])
    return {"microseconds": taken, "bytes": len(found)}


def decrypt(request, decrypted):
    """The edge's last step. `decrypted` decrypts bytes to a list."""
    answer = read(request["folder"], "answer")
    output = decrypted(answer)
    return {"microseconds": times(lambda _: decrypted(answer), nothing, 0, request["repetitions"]), "output": output}
