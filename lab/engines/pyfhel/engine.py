"""Pyfhel as an engine: BFV, BGV and CKKS of SEAL. PROTOCOL.md describes the protocol.

To install it by hand: python3 -m venv venv && venv/bin/pip install -r requirements.txt && venv/bin/python build.py,
with ../python beside it
To try it: echo '{"do":"version"}' | venv/bin/python engine.py
"""

from importlib.metadata import version

from conversation import Engine, vector_extensions
from session import CODECS, Integers, Reals

if __name__ == "__main__":
    Engine(
        {"bfv": Integers, "bgv": Integers, "ckks": Reals},
        engine="pyfhel",
        library="Pyfhel, around SEAL",
        version=version("Pyfhel"),
        flags=f"built here, without HEXL, GSL, Zstandard, {'with' if CODECS else 'without'} zlib; the processor has {vector_extensions()}",
    ).converse()
