//! Records of the journal: the rows of one device in one batch, encrypted under that device's key.
//!
//! A file is `SGJ1 ‖ salt 16 ‖ records`. A record is `length of the rest 4 ‖ device 16 ‖ batch 8 ‖ kind 1 ‖ ciphertext and
//! tag ‖ checksum 4`. The nonce is the salt of the file, the batch and the kind: a batch has one record of a kind for a
//! device, and a batch whose write failed gives its number to no other. The checksum tells a torn end without any key.

use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::{Aead, Payload};
use zeroize::Zeroizing;

pub(super) const MAGIC: &[u8; 4] = b"SGJ1";
pub(super) const SALT: usize = 16;
/// Bytes before the first record.
pub(super) const BEGIN: u64 = (MAGIC.len() + SALT) as u64;
/// Bytes of a record before its ciphertext, and behind it.
const HEAD: usize = 4 + 16 + 8 + 1;
const CHECK: usize = 4;
const TAG: usize = 16;
/// Maximum bytes of a record.
pub(super) const LARGEST: usize = 64 << 20;

/// The name of a device in the journal: the first half of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DeviceId([u8; 16]);

impl DeviceId {
    pub(crate) fn of(device: &str) -> Self {
        let hash = blake3::derive_key("sotto gateway journal device v1", device.as_bytes());
        let mut id = [0; 16];
        id.copy_from_slice(&hash[..16]);
        Self(id)
    }
}

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Rows.
    Rows,
    /// The names of the channels of the rows behind it, one a line.
    Channels,
}

/// The head of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) device: DeviceId,
    pub(crate) batch: u64,
    pub(crate) kind: Kind,
    /// Bytes of the whole record.
    pub(crate) bytes: usize,
}

impl Head {
    /// Parses the head of a record; `None` if it is none.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (device, rest) = rest.split_first_chunk::<16>()?;
        let (batch, rest) = rest.split_first_chunk::<8>()?;
        let kind = match rest.first()? {
            0 => Kind::Rows,
            1 => Kind::Channels,
            _ => return None,
        };
        let bytes = u32::from_le_bytes(*length) as usize + 4;
        let (device, batch) = (DeviceId(*device), u64::from_le_bytes(*batch));
        (HEAD + TAG + CHECK..=LARGEST).contains(&bytes).then_some(Self { device, batch, kind, bytes })
    }

    pub(super) const BYTES: usize = HEAD;
}

fn nonce(salt: &[u8; SALT], batch: u64, kind: Kind) -> [u8; 24] {
    let mut nonce = [0; 24];
    nonce[..SALT].copy_from_slice(salt);
    // Batches are counted from 0, one a write: far below 2^63.
    nonce[SALT..].copy_from_slice(&(batch << 1 | u64::from(kind == Kind::Channels)).to_le_bytes());
    nonce
}

/// Encrypts a record and adds it to `out`. Returns false, and adds nothing, if it is too long.
pub(super) fn write(
    out: &mut Vec<u8>,
    salt: &[u8; SALT],
    cipher: &XChaCha20Poly1305,
    (device, batch, kind): (DeviceId, u64, Kind),
    clear: &[u8],
) -> bool {
    let begin = out.len();
    let bytes = HEAD + clear.len() + TAG + CHECK;
    if bytes > LARGEST {
        return false;
    }
    out.extend_from_slice(&((bytes - 4) as u32).to_le_bytes());
    out.extend_from_slice(&device.0);
    out.extend_from_slice(&batch.to_le_bytes());
    out.push(u8::from(kind == Kind::Channels));
    let aad = &device.0[..];
    let sealed = cipher.encrypt(&nonce(salt, batch, kind).into(), Payload { msg: clear, aad });
    let Ok(sealed) = sealed else {
        out.truncate(begin);
        return false;
    };
    out.extend_from_slice(&sealed);
    let check = checksum(&out[begin..]);
    out.extend_from_slice(&check);
    true
}

/// Returns true if a record is whole.
pub(super) fn is_whole(record: &[u8]) -> bool {
    record.split_last_chunk::<CHECK>().is_some_and(|(rest, check)| checksum(rest) == *check)
}

/// Decrypts a whole record; `None` if it is not of this key.
pub(super) fn open(
    record: &[u8],
    salt: &[u8; SALT],
    cipher: &XChaCha20Poly1305,
    head: &Head,
) -> Option<Zeroizing<Vec<u8>>> {
    let sealed = record.get(HEAD..record.len().checked_sub(CHECK)?)?;
    let payload = Payload { msg: sealed, aad: &head.device.0 };
    cipher.decrypt(&nonce(salt, head.batch, head.kind).into(), payload).ok().map(Zeroizing::new)
}

fn checksum(bytes: &[u8]) -> [u8; CHECK] {
    let mut check = [0; CHECK];
    check.copy_from_slice(&blake3::hash(bytes).as_bytes()[..CHECK]);
    check
}

#[cfg(test)]
mod tests {
    use chacha20poly1305::aead::KeyInit;

    use super::*;

    #[test]
    fn a_record_opens_with_its_own_key_device_and_place() {
        let (salt, cipher) = ([7; SALT], XChaCha20Poly1305::new(&[1; 32].into()));
        let (device, mut out) = (DeviceId::of("boiler"), Vec::new());
        assert!(write(&mut out, &salt, &cipher, (device, 5, Kind::Rows), b"rows"));
        let head = Head::read(&out).unwrap();
        assert_eq!((head.device, head.batch, head.kind, head.bytes), (device, 5, Kind::Rows, out.len()));
        assert!(is_whole(&out) && !out.windows(4).any(|bytes| bytes == b"rows"));
        assert_eq!(open(&out, &salt, &cipher, &head).unwrap().as_slice(), b"rows");
        let other = XChaCha20Poly1305::new(&[2; 32].into());
        assert!(open(&out, &salt, &other, &head).is_none());
        assert!(open(&out, &[8; SALT], &cipher, &head).is_none());
        for moved in [
            Head { batch: 6, ..head },
            Head { kind: Kind::Channels, ..head },
            Head { device: DeviceId::of("x"), ..head },
        ] {
            assert!(open(&out, &salt, &cipher, &moved).is_none());
        }
        for at in 0..out.len() {
            let mut damaged = out.clone();
            damaged[at] ^= 1;
            assert!(!is_whole(&damaged), "byte {at}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..80)) {
            if let Some(head) = Head::read(&bytes) {
                proptest::prop_assert!(head.bytes <= LARGEST);
            }
            is_whole(&bytes);
        }
    }
}
