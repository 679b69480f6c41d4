//! Signs a window and measures the time: Ed25519 over the id of the stream's header, the window's head, its
//! tags and the digest of its parts.

use ed25519_dalek::{Signer as _, SigningKey};
use semihosting::io::{self, Write};
use sotto_sums::{TAG_BYTES, WHOLE_HEAD_BYTES};

use crate::stream::{MOST_PARTS, Stream};
use crate::{board, number, stack};

/// The signing key, which an owner's tool writes into each device. This one belongs to a public example.
static SIGNING_KEY: [u8; 32] = [0x52; 32];
const CONTEXT: &[u8] = b"sotto sums window v1";

/// Signs a window; prints the ticks and the stack of its signature.
pub(crate) fn sign(stream: &Stream, head: &[u8], parts: &[u8], out: &mut impl Write) -> io::Result<[u8; 64]> {
    let (used, (ticks, signature)) = stack::measured(|| board::timed(|| signed(stream, head, parts)));
    number(out, "signature-ticks", ticks)?;
    number(out, "signature-stack", used)?;
    Ok(signature)
}

#[inline(never)]
fn signed(stream: &Stream, head: &[u8], parts: &[u8]) -> [u8; 64] {
    let mut message = [0; CONTEXT.len() + 32 + WHOLE_HEAD_BYTES + MOST_PARTS * TAG_BYTES + 32];
    let mut used = 0;
    let mut append = |bytes: &[u8]| {
        message[used..used + bytes.len()].copy_from_slice(bytes);
        used += bytes.len();
    };
    append(CONTEXT);
    append(&stream.header_id);
    append(head);
    let mut rest = parts;
    for part in stream.parts {
        let (body_and_tag, others) = rest.split_at(part.bytes());
        append(&body_and_tag[body_and_tag.len() - TAG_BYTES..]);
        rest = others;
    }
    append(blake3::hash(parts).as_bytes());
    SigningKey::from_bytes(&SIGNING_KEY).sign(&message[..used]).to_bytes()
}
