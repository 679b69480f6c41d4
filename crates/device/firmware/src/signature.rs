//! Signs a window and measures the time: Ed25519 over the stream's id, the window's head and the digest of
//! its body.

use ed25519_dalek::{Signer as _, SigningKey};
use semihosting::io::{self, Write};

use crate::{board, line, number, stack};

/// The signing key, which an owner's tool writes into each device. This one belongs to a public example.
static SIGNING_KEY: [u8; 32] = [0x52; 32];
const CONTEXT: &[u8] = b"sotto window v2";

/// Signs a window and prints the signature, its ticks and its stack use.
pub(crate) fn sign(stream: &[u8; 32], head: &[u8], body: &[u8], out: &mut impl Write) -> io::Result<()> {
    let painted = stack::paint();
    let (ticks, signature) = board::timed(|| signed(stream, head, body));
    let stack = painted.used();
    line(out, "signature", &signature)?;
    number(out, "signature-ticks", ticks)?;
    number(out, "signature-stack", stack)
}

#[inline(never)]
fn signed(stream: &[u8; 32], head: &[u8], body: &[u8]) -> [u8; 64] {
    // A head without gaps has at most 47 bytes, so the buffer is long enough.
    let mut message = [0; 15 + 32 + 64 + 32];
    let mut used = 0;
    for part in [CONTEXT, stream, head, blake3::hash(body).as_bytes()] {
        message[used..used + part.len()].copy_from_slice(part);
        used += part.len();
    }
    SigningKey::from_bytes(&SIGNING_KEY).sign(&message[..used]).to_bytes()
}
