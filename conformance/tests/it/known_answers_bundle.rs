//! Bundles of devices against `spec/`.

use std::path::Path;

use serde::Deserialize;
use sotto_conformance::vectors;
use sotto_keys::{DeviceBundle, DeviceKeys, DeviceSecret, Protection, SigningIdentity};
use sotto_pack::{DeviceProfile, Encoding, Period, Span};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BundleAnswer {
    secret: Option<String>,
    public_keys: Vec<String>,
    identity: String,
    verifying_key: String,
    cloud: String,
    authority: Option<String>,
    profile: String,
    bytes: String,
}

fn array(text: &str) -> [u8; 32] {
    hex::decode(text).unwrap().try_into().unwrap()
}

fn keys(case: &BundleAnswer) -> DeviceKeys {
    match &case.secret {
        Some(secret) => DeviceKeys::Secret(DeviceSecret::from_bytes(&array(secret))),
        None => DeviceKeys::Public(case.public_keys.iter().map(|key| hex::decode(key).unwrap()).collect()),
    }
}

/// Returns the secret in hexadecimal, and the public keys.
fn shown(keys: &DeviceKeys) -> (Option<String>, Vec<String>) {
    match keys {
        DeviceKeys::Secret(secret) => (Some(hex::encode(secret.expose_secret_bytes())), Vec::new()),
        DeviceKeys::Public(keys) => (None, keys.iter().map(hex::encode).collect()),
    }
}

#[test]
fn bundles_are_read_and_written_as_specified() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = sotto_ring::secure_rng().unwrap();
    for (index, case) in vectors::cases::<BundleAnswer>("bundle").into_iter().enumerate() {
        let bytes = hex::decode(&case.bytes).unwrap();
        let read = DeviceBundle::parse(&bytes, Path::new("a bundle"), None).unwrap();
        assert_eq!(shown(&read.keys), (case.secret.clone(), case.public_keys.clone()));
        assert_eq!(read.identity.expose_secret_bytes(), &array(&case.identity));
        assert_eq!(hex::encode(read.identity.verifying_key()), case.verifying_key);
        assert_eq!(read.cloud, case.cloud);
        let keys = keys(&case);
        let authority = case.authority.map(|pem| hex::decode(pem).unwrap());
        assert_eq!(read.authority, authority);
        let profile = hex::decode(&case.profile).unwrap();
        assert_eq!(read.profile, profile);

        let written = DeviceBundle {
            keys,
            identity: SigningIdentity::from_bytes(&array(&case.identity)),
            cloud: case.cloud,
            authority,
            profile,
        };
        let path = folder.path().join(index.to_string());
        written.write(&path, &Protection::FileMode, &mut rng).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }
}

#[test]
fn the_profile_in_a_bundle_is_read_and_written_as_specified() {
    for case in vectors::cases::<BundleAnswer>("bundle") {
        let json = hex::decode(&case.profile).unwrap();
        let profile = DeviceProfile::parse(&json).unwrap();
        assert_eq!(profile.to_json().unwrap(), json);
        if case.secret.is_none() {
            let [exact, real] = &profile.streams[..] else { panic!("two streams") };
            assert!(exact.public && real.public);
            assert_eq!((exact.envelope, exact.slots), (1, None));
            assert_eq!((real.envelope, real.slots), (1, Some(32)));
            continue;
        }
        assert_eq!(
            (profile.device.as_str(), profile.period_ms),
            ("boiler", Period::from_milliseconds(60_000))
        );
        assert_eq!(profile.zone.as_deref(), Some("Europe/Vienna"));
        let [exact, coarse, model] = &profile.streams[..] else { panic!("three streams") };
        assert_eq!((exact.span, exact.envelope, exact.ticks), (Some(Span::Hour), 2, 60));
        assert_eq!(exact.slots, Some(256));
        assert_eq!((exact.channels[0].unit.as_str(), exact.channels[1].resolution), ("°C", Some(0.25)));
        assert_eq!(
            (coarse.encoding, coarse.period_ms),
            (Encoding::Integer { bits: 12 }, Some(Period::from_milliseconds(3_600_000)))
        );
        assert_eq!((coarse.envelope, coarse.channels.len()), (1, 0));
        assert_eq!((model.encoding, model.slots), (Encoding::Real, Some(1024)));
        assert!(profile.streams.iter().all(|stream| !stream.public));
    }
}
