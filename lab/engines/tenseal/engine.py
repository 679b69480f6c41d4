"""TenSEAL's tensor interface as an engine: BFVVector and CKKSVector. PROTOCOL.md describes the protocol.

To install it by hand: python3 -m venv venv && venv/bin/pip install -r requirements.txt, with ../python beside it
To try it: echo '{"do":"version"}' | venv/bin/python engine.py
"""

import tenseal

from conversation import Engine, vector_extensions
from vectors import Integers, Reals

if __name__ == "__main__":
    Engine(
        {"bfv": Integers, "ckks": Reals},
        engine="tenseal",
        library="TenSEAL, its vectors",
        version=tenseal.__version__,
        flags=f"wheel, SEAL without HEXL; relinearises every product; the processor has {vector_extensions()}",
    ).converse()
