//! Corrects length and digest of a changed frame: otherwise the digest would reveal every change, and no later check
//! would ever run.

/// Header of a frame: `"sott"`, version, kind, two zeros, the payload's length.
const HEADER: usize = 16;
const DIGEST: usize = 32;
const KIND: usize = 5;
const ENVELOPE: u8 = 6;
const SIGNATURE: usize = 64;

/// Returns the frame with correct length and digest; in an envelope also those of the inner frame. None if the bytes
/// are too short for a frame.
pub fn resealed(bytes: &[u8]) -> Option<Vec<u8>> {
    let end = bytes.len().checked_sub(DIGEST).filter(|end| *end >= HEADER)?;
    let mut frame = bytes.to_vec();
    if frame[KIND] == ENVELOPE {
        reseal_inside(&mut frame[HEADER..end]);
    }
    seal(&mut frame);
    Some(frame)
}

fn seal(frame: &mut [u8]) {
    let end = frame.len() - DIGEST;
    frame[8..HEADER].copy_from_slice(&((end - HEADER) as u64).to_le_bytes());
    let digest = blake3::hash(&frame[..end]);
    frame[end..].copy_from_slice(digest.as_bytes());
}

/// Corrects the ciphertext's frame, which stands between an envelope's header, whose length comes first, and its
/// signature.
fn reseal_inside(payload: &mut [u8]) {
    let Some((length, rest)) = payload.split_at_mut_checked(4) else { return };
    let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize;
    let Some(end) = rest.len().checked_sub(SIGNATURE) else { return };
    if let Some(inside) = rest.get_mut(length..end)
        && inside.len() >= HEADER + DIGEST
    {
        seal(inside);
    }
}
