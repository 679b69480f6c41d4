"""OpenFHE as an engine: BFV, BGV and CKKS. PROTOCOL.md describes the protocol.

To install it by hand: python3.10 -m venv venv && venv/bin/pip install -r requirements.txt, with ../python beside it
To try it: echo '{"do":"version"}' | venv/bin/python engine.py
"""

from importlib.metadata import version

from comparisons import METHODS
from conversation import Engine, vector_extensions
from session import Bfv, Bgv, Ckks

if __name__ == "__main__":
    Engine(
        {"bfv": Bfv, "bgv": Bgv, "ckks": Ckks},
        METHODS,
        engine="openfhe",
        library="OpenFHE, its wheel",
        version=version("openfhe"),
        flags=f"wheel, without HEXL; special primes of 60 bits; the processor has {vector_extensions()}",
    ).converse()
