"""SEAL as an engine: BFV and CKKS through its C++ API, as bound by `tenseal.sealapi`. PROTOCOL.md describes the
protocol.

To install it by hand: python3 -m venv venv && venv/bin/pip install -r requirements.txt, with ../python beside it
To try it: echo '{"do":"version"}' | venv/bin/python engine.py
"""

import tenseal
import tenseal.sealapi as seal

from conversation import Engine, vector_extensions
from integers import Integers
from reals import Reals

if __name__ == "__main__":
    header = seal.Serialization.SEALHeader()
    Engine(
        {"bfv": Integers, "ckks": Reals},
        engine="seal",
        library="Microsoft SEAL in the TenSEAL wheel",
        version=f"{header.version_major}.{header.version_minor} (TenSEAL {tenseal.__version__})",
        flags=f"wheel, without HEXL; the processor has {vector_extensions()}",
    ).converse()
