"""Runs a program node by node on a session's ciphertexts."""


def evaluate(session, program, inputs):
    """Returns the slots of every output."""
    values = []
    for node in program["nodes"]:
        values.append(run(session, node, values, inputs))
    return [session.decrypt(values[output]) for output in program["outputs"]]


def run(session, node, values, inputs):
    """Returns the value of one node: a ciphertext, or the list of a constant."""
    op = node["op"]
    if op == "input":
        return session.encrypt(inputs[node["index"]])
    if op == "constant":
        return node["values"]
    a = values[node["a"]]
    if op == "neg":
        return session.negate(a)
    if op == "rotate":
        return session.rotate(a, node["steps"])
    if op == "swap_rows":
        return session.swap_rows(a)
    return pair(session, op, a, values[node["b"]])


def pair(session, op, a, b):
    """Returns a sum, difference or product; at most one operand is a constant."""
    if op not in ("add", "sub", "mul"):
        raise ValueError("unsupported")
    if isinstance(a, list):
        # c − x is −x + c; sum and product commute.
        return pair(session, "add" if op == "sub" else op, session.negate(b) if op == "sub" else b, a)
    if isinstance(b, list):
        if op == "mul":
            return session.times_constant(a, b)
        return session.plus_constant(a, b if op == "add" else [-value for value in b])
    if op == "mul":
        return session.product(a, b)
    return session.sum(a, b) if op == "add" else session.difference(a, b)
