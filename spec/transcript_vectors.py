"""Known answers of receipts, logs and transcripts."""

from spec import ed25519
from spec.transcripts import (JOB, Receipt, StreamHead, Transcript, leaf, receipt_message, root, sign_head, sign_transcript)

CLOUD = bytes(range(32))
PARAMETERS = bytes(range(100, 132))
START = 1_700_000_000_000


def statements():
    leaves = [leaf(bytes([i])) for i in range(9)]
    receipt = Receipt("boiler", "climate", 2**64 - 1, leaves[3], 2**63, -1)
    head = StreamHead("boiler", "climate", len(leaves), root(leaves), START, ed25519.public(CLOUD))
    job = Transcript(JOB, PARAMETERS, bytes(range(16)), leaves[0], leaves[1], 9, root(leaves), leaves[2:5], START + 1, ed25519.public(CLOUD))
    return {
        "trees": [root(leaves[:size]).hex() for size in range(len(leaves) + 1)],
        "receipt": {"sequence": receipt.sequence, "digest": receipt.digest.hex(), "position": receipt.position, "stored_at": receipt.stored_at,
                    "message": receipt_message(receipt).hex(), "signature": ed25519.sign(CLOUD, receipt_message(receipt)).hex()},
        "head": sign_head(head, CLOUD).hex(),
        "job": sign_transcript(job, CLOUD).hex(),
    }


def transcript_files():
    yield "transcripts", {"cloud_secret": CLOUD.hex(), "parameter_id": PARAMETERS.hex(), "time": START, **statements()}
