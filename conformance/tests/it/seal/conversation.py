"""The actions of a peer library in the tests: makes files, computes on files, opens files. Prints slots as JSON."""

import json
import sys
from pathlib import Path

# Results computed from a and b; each becomes a file.
RESULTS = ["sum", "product", "rotated", "swapped", "dropped"]


def talk(library):
    """`library(folder, request)` with make(), load(), open(name), save(name, ciphertext) and an operation for each result,
    which returns None if the library lacks it."""
    action, folder = sys.argv[1], Path(sys.argv[2])
    request = json.loads((folder / "request.json").read_text())
    peer = library(folder, request)
    if action == "make":
        peer.make()
        answer = {}
    elif action == "compute":
        peer.load()
        a, b = peer.read("a"), peer.read("b")
        answer = {"a": peer.slots(a), "b": peer.slots(b)}
        for name in RESULTS:
            made = getattr(peer, name)(a, b)
            if made is None:
                continue
            peer.save(made, f"out.{name}")
            answer[name] = peer.slots(made)
        again = peer.encrypt(request["a"])
        peer.save(again, "out.encrypted")
    else:
        peer.load()
        answer = {name: peer.slots(peer.read(name)) for name in sys.argv[3:]}
    print(json.dumps(answer))
