//! The bundle of a device with one stream, whose windows have an hour.

use std::path::Path;

use sotto_keys::{DeviceBundle, DeviceKeys, DeviceSecret, Protection, SecretKey, SigningIdentity};
use sotto_pack::{DeviceProfile, Digit, Encoding, Period, Placed, Quantity, Span, StreamProfile, SumsPart};
use sotto_ring::secure_rng;
use sotto_rlwe::{Bfv, Ckks, DefaultChain, Params, Scheme, SchemeId};
use sotto_wire::{write_parameters, write_public_key};

use crate::rows::channels;

/// The kind of windows that a device sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Sums with tags, for means.
    Sums,
    /// Sums with tags, for means, deviations and covariances.
    Squares,
    /// Reals under the device's secret, compact.
    Ckks,
    /// Whole steps under a public key.
    BfvPublic,
}

/// Places with room for sums of 512 windows of 10 and 7 bits.
fn parts(kind: Kind) -> Vec<SumsPart> {
    let whole = |quantity, width| Placed { quantity, digit: Digit::Whole, width };
    let part = |quantities| SumsPart { quantities, reasons: 0 };
    let readings = part(vec![whole(Quantity::Reading(0), 19), whole(Quantity::Reading(1), 16)]);
    let squares = vec![
        whole(Quantity::Square(0), 28),
        whole(Quantity::Square(1), 22),
        whole(Quantity::Product(0, 1), 25),
    ];
    match kind {
        Kind::Sums => vec![readings],
        Kind::Squares => vec![readings, part(squares)],
        Kind::Ckks | Kind::BfvPublic => Vec::new(),
    }
}

fn params<S: Scheme>(id: SchemeId, t: u64) -> Params<S> {
    Params::new(DefaultChain::spec(id, 8192, t).unwrap()).unwrap()
}

/// Writes the bundle of a device whose ticks take `period` seconds.
pub(crate) fn write_bundle(path: &Path, kind: Kind, period: i64) {
    let (mut rng, secret) = (secure_rng().unwrap(), DeviceSecret::from_bytes(&[9; 32]));
    let (mut parameters, mut keys) = (String::new(), DeviceKeys::Secret(DeviceSecret::from_bytes(&[9; 32])));
    match kind {
        Kind::Sums | Kind::Squares => {}
        Kind::Ckks => parameters = hex::encode(write_parameters(params::<Ckks>(SchemeId::Ckks, 0).spec())),
        Kind::BfvPublic => {
            let params = params::<Bfv>(SchemeId::Bfv, 65_537);
            let public = SecretKey::derive(&secret, &params).public_key(&mut rng);
            parameters = hex::encode(write_parameters(params.spec()));
            keys = DeviceKeys::Public(vec![write_public_key(&public)]);
        }
    }
    let (is_public, is_of_slots) = (kind == Kind::BfvPublic, matches!(kind, Kind::Ckks | Kind::BfvPublic));
    let ticks = (3600 / period) as u32;
    let period = Period::from_milliseconds(1000 * period as u32);
    let stream = StreamProfile {
        stream: "hours".into(),
        parameters,
        encoding: if kind == Kind::Ckks { Encoding::Real } else { Encoding::Resolution },
        ticks,
        period_ms: Some(period),
        span: Some(Span::Hour),
        channels: channels(),
        sums: parts(kind),
        rounded: false,
        compact: None,
        slots: is_of_slots.then_some(if is_public { 512 } else { 128 }),
        envelope: if kind == Kind::Ckks { 2 } else { 1 },
        public: is_public,
        absolute: false,
    };
    let profile = DeviceProfile {
        device: "meter".into(),
        period_ms: period,
        zone: None,
        cloud_keys: Vec::new(),
        owner_key: None,
        streams: vec![stream],
        derived: Vec::new(),
        record: None,
    };
    let bundle = DeviceBundle {
        keys,
        identity: SigningIdentity::generate(&mut rng),
        cloud: "http://127.0.0.1:9".to_owned(),
        authority: None,
        profile: profile.to_json().unwrap(),
    };
    bundle.write(path, &Protection::FileMode, &mut rng).unwrap();
}
