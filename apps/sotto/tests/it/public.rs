//! A device that holds public keys: its readings are asked for and answered, and its bundle cannot decrypt them.

use std::path::Path;

use sotto_keys::{DeviceBundle, DeviceKeys, DeviceSecret, KeyFile};
use sotto_pack::DeviceProfile;
use sotto_rlwe::{Bfv, Bgv, Ckks, KeyId, Params, Scheme, SchemeId};
use sotto_wire::{read_parameters, read_public_key};

use crate::session::{self, HOURS, ask, send, sotto};

#[test]
fn a_device_with_public_keys_is_answered_and_cannot_read_what_it_sent() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    let run = |arguments: &[&str]| sotto(folder, arguments).unwrap();
    run(&["init", "plant", "--time-zone", "UTC"]);
    for (name, more) in [("heat", &["--comparable"][..]), ("flow", &[])] {
        let channel = ["channel", "add", name, "--unit", "kW", "--range", "0..10", "--resolution", "0.1"];
        run(&[&channel[..], &["--every", "1h"], more].concat());
    }
    for (name, question) in [
        ("daily", "mean(heat), stddev(heat), covariance(heat, flow) by day"),
        ("extremes", "min(flow), max(flow), quantile(flow, 0.5)"),
        ("curve", "mean(polynomial(heat, [0, 1, 0.5]))"),
    ] {
        run(&["question", "add", name, question]);
    }
    let _cloud = session::serve(folder);

    let said = run(&["device", "add", "boiler", "--channels", "heat,flow", "--public"]);
    assert!(
        said.contains("public keys that cannot decrypt") && said.contains("whole: under a public key"),
        "{said}"
    );
    let plan = run(&["plan"]);
    assert!(plan.contains("needs the device's secret, and the device holds public keys"), "{plan}");
    send(folder, "boiler.bundle");

    let values: Vec<f64> = (0..HOURS).map(|hour| f64::from(hour) / 10.0).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let near = |question: &str, expected: f64, within: f64| {
        let found = ask(folder, question)[0];
        assert!((found - expected).abs() <= within, "{question}: {found} is not {expected} ± {within}");
    };
    // Sums, squares and products of whole ciphertexts.
    let daily = ask(folder, "mean(heat) by day");
    let expected: Vec<f64> = values.chunks(24).map(mean).collect();
    assert!(daily.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9) && daily.len() == 2, "{daily:?}");
    let middle = mean(&values);
    let variance = mean(&values.iter().map(|x| (x - middle) * (x - middle)).collect::<Vec<_>>());
    near("stddev(heat)", variance.sqrt(), 1e-6);
    near("covariance(heat, flow)", variance, 1e-6);
    // Readings that come down by themselves.
    for (question, expected) in [("min(flow)", 0.0), ("max(flow)", 4.7), ("count(flow >= 2)", 28.0)] {
        near(question, expected, 1e-9);
    }
    // Comparisons in the cloud.
    near("count(heat >= 2)", 28.0, 0.0);
    near("time(heat < 0.55)", 6.0, 0.0);
    assert!(run(&["ask", "count(heat >= 2)"]).contains("? 28"), "the mark of an unchecked value");
    // Reals.
    let curve: Vec<f64> = values.iter().map(|x| x + 0.5 * x * x).collect();
    near("mean(polynomial(heat, [0, 1, 0.5]))", mean(&curve), 0.01);

    check_bundle(folder);
    let renewed = run(&["device", "renew", "boiler"]);
    assert!(
        renewed.contains("public keys that cannot decrypt") && !renewed.contains("Earlier bundles"),
        "{renewed}"
    );
}

/// Accounts for every byte of the bundle: nothing in it is a secret but the signing key.
fn check_bundle(folder: &Path) {
    let path = folder.join("boiler.bundle");
    let bytes = std::fs::read(&path).unwrap();
    let DeviceBundle { keys, identity, cloud, authority, profile } = DeviceBundle::read(&path, None).unwrap();
    let DeviceKeys::Public(frames) = keys else { panic!("the bundle holds a secret") };
    let lengths = [cloud.len(), authority.as_ref().map_or(0, Vec::len)];
    let of_keys: usize = frames.iter().map(|frame| 4 + frame.len()).sum();
    // Head, signing key, address, authority, number of keys, keys, profile, digest.
    let accounted = 11 + 32 + (4 + lengths[0]) + (4 + lengths[1]) + 4 + of_keys + profile.len() + 32;
    assert_eq!(bytes.len(), accounted);

    let secret = KeyFile::Device.read(&folder.join("plant/secrets/boiler.key"), None).unwrap();
    let secret = DeviceSecret::from_bytes(&secret);
    let holds = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    assert!(!holds(&secret.expose_secret_bytes()[..]) && holds(&identity.expose_secret_bytes()[..]));
    let profile = DeviceProfile::parse(&profile).unwrap();
    assert!(profile.streams.len() >= 3 && profile.streams.iter().all(|stream| stream.public));
    // Every frame is the public key of a stream under the owner's secret, and is read to its end.
    let mut schemes = Vec::new();
    for frame in &frames {
        let of = |stream: &sotto_pack::StreamProfile| {
            let spec = read_parameters(&hex::decode(&stream.parameters).unwrap()).unwrap();
            let (id, scheme) = (spec.id(), spec.scheme);
            let key = match scheme {
                SchemeId::Bfv => read::<Bfv>(frame, spec),
                SchemeId::Bgv => read::<Bgv>(frame, spec),
                SchemeId::Ckks => read::<Ckks>(frame, spec),
            };
            key.map(|key| (scheme, key == secret.key_id(&id)))
        };
        let (scheme, of_the_secret) = profile.streams.iter().find_map(of).expect("a stream's public key");
        assert!(of_the_secret);
        schemes.push(scheme);
    }
    assert!(schemes.contains(&SchemeId::Ckks) && schemes.len() > 1, "{schemes:?}");
}

fn read<S: Scheme>(frame: &[u8], spec: sotto_rlwe::ParameterSpec) -> Option<KeyId> {
    let params = Params::<S>::new(spec).unwrap();
    read_public_key(frame, &params).ok().map(|key| key.key())
}
