//! Answers of the cloud that are believed, and those that are not.

use super::*;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_rlwe::{Bfv, ChainRequest, Params, Scheme, SchemeId};
use sotto_wire::{AnyCiphertext, Envelope, EnvelopeHeader, Heads};

fn identity(byte: u8) -> SigningIdentity {
    SigningIdentity::from_bytes(&[byte; 32])
}

fn header(stream: &str, sequence: u64) -> EnvelopeHeader {
    EnvelopeHeader {
        device: "boiler".into(),
        stream: stream.into(),
        sequence,
        parameters: sotto_rlwe::ParameterId([0; 32]),
        key: sotto_rlwe::KeyId([0; 16]),
        started_at: 0,
        ended_at: 0,
        readings: 0,
        layout: vec![],
    }
}

fn signed_header(stream: &str, sequence: u64, by: u8) -> SignedHeader {
    let header = header(stream, sequence);
    let chain = ChainRequest::one_prime(SchemeId::Bfv, 1024, 257, 26).build().unwrap();
    let params = Params::<Bfv>::new(chain).unwrap();
    let key = SecretKey::derive(&DeviceSecret::from_bytes(&[1; 32]), &params);
    let plain = Bfv::encode_scalar(&params, 7, params.top_level()).unwrap();
    let mut rng = sotto_ring::secure_rng().unwrap();
    let body = AnyCiphertext::Seeded(key.encrypt(&plain, &mut rng).unwrap()).write();
    let envelope = Envelope::sign(header, body, |message| identity(by).sign(message));
    SignedHeader::of(&envelope.unwrap())
}

fn signed(stream: &str, sequence: u64, by: u8) -> Option<String> {
    Some(hex::encode(signed_header(stream, sequence, by).write()))
}

#[test]
fn only_what_the_device_has_signed_is_believed() {
    let (identity, cuts) =
        (identity(1), Cuts::new(sotto_pack::Clock::utc(), std::collections::BTreeMap::new()));
    let cloud = Cloud::new("http://127.0.0.1:9", sotto_http::Trust::default()).unwrap();
    let positions = Positions { device: "boiler", identity: &identity, cloud: &cloud, cuts: &cuts };
    let check = |signed_header, next, forgotten_until| {
        positions.check("load", &Position { next, signed_header, latest_header: None, forgotten_until })
    };
    assert_eq!(check(None, 0, None), Ok(Standing::default()));
    assert_eq!(check(None, 1 << 60, None), Ok(Standing::default()), "an unsigned number counts for nothing");
    assert_eq!(
        check(signed("load", 6, 1), 1 << 60, None),
        Ok(Standing { next: 7, until: None, forgotten: None })
    );
    assert_eq!(check(signed("load", 6, 1), 9, Some(5)).map(|standing| standing.next), Ok(9));
    assert_eq!(check(None, 9, Some(5)), Ok(Standing { next: 9, until: Some(5), forgotten: Some(5) }));
    for header in [None, signed("load", 6, 1)] {
        assert!(matches!(check(header, 1 << 60, Some(5)), Err(NoPosition::NotOurs(_))), "beyond any number");
    }
    let future = check(None, 9, Some(i64::MAX)).unwrap().until.unwrap();
    assert!(future <= now());
    for wrong in [signed("load", 6, 2), signed("other", 6, 1), Some("zz".into()), Some("00".into())] {
        assert!(matches!(check(wrong, 7, None), Err(NoPosition::NotOurs(_))));
    }
}

#[test]
fn only_heads_that_the_device_has_signed_are_taken() {
    let (identity, cuts) =
        (identity(1), Cuts::new(sotto_pack::Clock::utc(), std::collections::BTreeMap::new()));
    let cloud = Cloud::new("http://127.0.0.1:9", sotto_http::Trust::default()).unwrap();
    let positions = Positions { device: "boiler", identity: &identity, cloud: &cloud, cuts: &cuts };
    let mut learning = Learning::default();
    let mut take = |heads: Vec<SignedHeader>, more| {
        let page = Heads { heads, more };
        positions.take("load", &page, &mut learning).map(|()| learning.so_far().next)
    };
    let head = |sequence| signed_header("load", sequence, 1);
    assert_eq!(take(vec![head(3), head(6)], true), Ok(7));
    assert_eq!(take(vec![head(7)], true), Ok(8), "the next page goes on behind");
    for (wrong, more) in [
        (vec![head(7)], false),
        (vec![signed_header("load", 8, 2)], false),
        (vec![signed_header("other", 8, 1)], false),
        (Vec::new(), true),
    ] {
        assert!(matches!(take(wrong, more), Err(NoPosition::NotOurs(_))));
    }
    assert_eq!(take(Vec::new(), false), Ok(8));
}
