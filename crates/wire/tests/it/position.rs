//! Position requests and signed headers round-trip, and every changed byte is refused.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_keys::{DeviceSecret, SecretKey, SigningIdentity};
use sotto_rlwe::{Bfv, ParameterSpec, Params, Scheme, SchemeId};
use sotto_wire::{AnyCiphertext, Envelope, EnvelopeHeader, PositionRequest, SignedHeader, WireError};

const LIMIT: u64 = 1 << 20;

fn identity(byte: u8) -> SigningIdentity {
    SigningIdentity::from_bytes(&[byte; 32])
}

pub(crate) fn envelope() -> Envelope {
    let primes: Vec<u64> = sotto_ring::primes::below(1 << 40, 16).take(3).collect();
    let (special, data) = (primes[..1].to_vec(), primes[1..].to_vec());
    let spec = ParameterSpec { scheme: SchemeId::Bfv, degree: 16, special, data, digit_primes: 1, plain: 97 };
    let params = Params::<Bfv>::insecure(spec).unwrap();
    let key = SecretKey::derive(&DeviceSecret::from_bytes(&[8; 32]), &params);
    let plain = Bfv::encode_scalar(&params, 5, params.top_level()).unwrap();
    let body = AnyCiphertext::Seeded(key.encrypt(&plain, &mut ChaCha20Rng::from_seed([3; 32])).unwrap());
    let header = EnvelopeHeader {
        device: "boiler".into(),
        stream: "temperature".into(),
        sequence: 7,
        parameters: params.id(),
        key: key.id(),
        started_at: 1,
        ended_at: 2,
        readings: 3,
        layout: b"{}".to_vec(),
    };
    Envelope::sign(header, body.write(), |message| identity(1).sign(message)).unwrap()
}

#[test]
fn a_signed_header_is_as_good_as_its_envelope() {
    let envelope = envelope();
    assert_eq!(envelope.message_bytes(), envelope.write().len());
    let signed = SignedHeader::of(&envelope);
    let bytes = signed.write();
    let read = SignedHeader::read(&bytes, LIMIT).unwrap();
    assert_eq!((&read, read.header()), (&signed, envelope.header()));
    assert_eq!(read.write(), bytes);
    read.verify(&identity(1).verifying_key()).unwrap();
    assert_eq!(read.verify(&identity(2).verifying_key()), Err(WireError::Signature));
    // Another sequence number, and another digest of the body, each in a valid frame.
    let (sequence, digest) = (16 + 7 + 12, bytes.len() - 32 - 64 - 32);
    for at in [sequence, digest] {
        let mut other = bytes.clone();
        other[at] ^= 1;
        let end = other.len() - 32;
        let hash = blake3::hash(&other[..end]);
        other[end..].copy_from_slice(hash.as_bytes());
        let other = SignedHeader::read(&other, LIMIT).unwrap();
        let changed = (other.header() != envelope.header(), other.body_digest() != read.body_digest());
        assert_eq!(changed, (at == sequence, at == digest));
        assert_eq!(other.verify(&identity(1).verifying_key()), Err(WireError::Signature));
    }
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert!(SignedHeader::read(&changed, LIMIT).is_err(), "{at}");
        assert!(SignedHeader::read(&bytes[..at], LIMIT).is_err(), "{at}");
    }
}

#[test]
fn a_question_is_signed_whole() {
    let asked =
        PositionRequest::sign("boiler", "temperature", 12, |message| identity(1).sign(message)).unwrap();
    let bytes = asked.write().unwrap();
    let read = PositionRequest::read(&bytes).unwrap();
    assert_eq!((&read, read.write().unwrap()), (&asked, bytes.clone()));
    read.verify(&identity(1).verifying_key()).unwrap();
    let changes: [fn(&mut PositionRequest); 3] = [
        |asked| asked.device = "tank".into(),
        |asked| asked.stream = "pressure".into(),
        |asked| asked.asked_at = 13,
    ];
    for change in changes {
        let mut other = read.clone();
        change(&mut other);
        assert_eq!(other.verify(&identity(1).verifying_key()), Err(WireError::Signature));
    }
    assert!(PositionRequest::sign("no name", "temperature", 12, |_| [0; 64]).is_err());
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert!(PositionRequest::read(&changed).is_err(), "{at}");
    }
}
