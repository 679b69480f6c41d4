"""Whole tasks: programs one after another, on one number in each ciphertext. PROTOCOL.md states the timed part."""

from clock import Operation
from program import run as compute

# The largest error of a real answer, as part of the largest answer.
CLOSE_PART = 1e-3


def operation(session, task):
    """Returns a task as an operation, from numbers to encrypted answers; the session's `encrypt_number` uses the
    public key. Inputs encrypted before the timing can be reused, because programs do not change them."""
    numbers = [list(values) for values in task["inputs"]]
    fresh = lambda: [[session.encrypt_number(number) for number in values] for values in numbers]
    before = fresh() if task.get("encrypted") else None

    def run(_):
        kept = []
        for program, new in zip(task["programs"], before or fresh()):
            found = outputs(session, program, kept + new)
            kept = found[: task["kept"]]
        return found[task["kept"] :]

    return Operation(run, lambda found: is_right(session, found, task["answers"]))


def outputs(session, program, ciphertexts):
    """Returns every output, encrypted."""
    values = []
    for node in program["nodes"]:
        given = node["op"] == "input"
        values.append(ciphertexts[node["index"]] if given else compute(session, node, values, None))
    return [values[output] for output in program["outputs"]]


def named(session):
    """Returns the task operations of a session that has sums and products."""
    one = lambda request: operation(session, request["task"])
    return {f"task_{name}": one for name in ("expression", "weighted_sum", "weighted_sum_encrypted", "regression")}


def is_right(session, found, answers):
    """Returns true if the first slots are the answers: equal modulo t, or close for reals."""
    first = [session.decrypt(answer)[0] for answer in found]
    if len(first) != len(answers):
        return False
    if hasattr(session, "t"):
        return all((a - b) % session.t == 0 for a, b in zip(first, answers))
    allowed = CLOSE_PART * max(abs(answer) for answer in answers)
    return all(abs(a - b) <= allowed for a, b in zip(first, answers))
