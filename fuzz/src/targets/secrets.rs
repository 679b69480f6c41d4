//! Files of secrets: key files (the recryptor's is in [`super::partial_frames`]), and the budget of flooded results.

use std::path::Path;

use sotto_conformance::golden;
use sotto_decrypt::FloodingBudget;
use sotto_keys::{
    DeviceBundle, DeviceKeys, DeviceSecret, KeyFile, PlantKey, Protection, SecretKey, SigningIdentity,
};
use sotto_rlwe::{Bfv, KeyId, Params};

use super::{Inputs, Target, as_key_file, in_file, once};

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    Target { name: "key-file", run: key_file, inputs: Inputs::Kept(key_files), memory: |bytes| 2 * bytes.len() + 4096 },
    Target { name: "imported-key", run: imported_key, inputs: Inputs::Kept(imported_keys), memory: |bytes| 4 * bytes.len() + (48 << 10) },
    Target { name: "bundle", run: bundle, inputs: Inputs::Kept(bundles), memory: |bytes| 4 * bytes.len() + 8192 },
    Target { name: "flooding-budget", run: budget, inputs: Inputs::Kept(budgets), memory: |bytes| 4 * bytes.len() + (32 << 10) },
];

fn key_files() -> Vec<Vec<u8>> {
    let mut files = ["device.key", "signing.key", "owner.key", "owner-cost.key"].map(golden::read).to_vec();
    let mut rng = sotto_ring::secure_rng().expect("randomness");
    let sealed = KeyFile::Device.encode(
        &[7; 32],
        Protection::PlantKey { key: &plant_key(), name: "boiler.key" },
        &mut rng,
    );
    files.push(sealed.expect("a key file").to_vec());
    files
}

fn plant_key() -> PlantKey {
    PlantKey::from_bytes(&[5; 32])
}

/// Reads a key file unchanged, and with a correct digest. Without a passphrase: trying one takes 64 MiB and a tenth of
/// a second, by design.
fn key_file(bytes: &[u8]) -> bool {
    as_key_file(bytes, |bytes| {
        let read = |kind: KeyFile, protection: Protection<'_>| {
            kind.parse(bytes, Path::new("key"), protection).map_err(|error| error.to_string())
        };
        let key = plant_key();
        let kinds = [KeyFile::Device, KeyFile::Signing, KeyFile::Plant];
        let protections = [Protection::FileMode, Protection::PlantKey { key: &key, name: "boiler.key" }];
        let accepted = kinds.map(|kind| protections.map(|protection| read(kind, protection).is_ok()));
        let _ = PlantKey::name_of(bytes);
        accepted.as_flattened().contains(&true)
    })
}

fn bundles() -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder");
    let bundle = |keys: DeviceKeys, authority: Option<&[u8]>| DeviceBundle {
        keys,
        identity: SigningIdentity::from_bytes(&[2; 32]),
        cloud: "http://127.0.0.1:7410".to_owned(),
        authority: authority.map(<[u8]>::to_vec),
        profile: b"{}".to_vec(),
    };
    let mut rng = sotto_ring::secure_rng().expect("randomness");
    let mut written = |name: &str, bundle: DeviceBundle| {
        let path = folder.path().join(name);
        bundle.write(&path, &Protection::FileMode, &mut rng).expect("written");
        std::fs::read(&path).expect("read")
    };
    let secret = || DeviceKeys::Secret(DeviceSecret::from_bytes(&[1; 32]));
    let public = DeviceKeys::Public(vec![b"a key".to_vec(), Vec::new()]);
    vec![
        written("without", bundle(secret(), None)),
        written("with", bundle(secret(), Some(b"PEM"))),
        written("public", bundle(public, Some(b"PEM"))),
    ]
}

/// Reads a bundle unchanged, and with a correct digest. Tries no passphrase.
fn bundle(bytes: &[u8]) -> bool {
    as_key_file(bytes, |bytes| DeviceBundle::parse(bytes, Path::new("bundle"), None).is_ok())
}

/// Returns a key file imported from another library, without a passphrase. Files that we write always have one.
fn imported_keys() -> Vec<Vec<u8>> {
    let params = golden::insecure_n16::<Bfv>();
    let mut file = b"sottokey\x01\x03\x00".to_vec();
    file.extend(params.id().0);
    // Two bits a coefficient: 0, 1 and 2 for -1, 0 and 1.
    file.extend([0b10_01_00_01, 0, 0b01_01_01_01, 0b10_10_00_00]);
    let digest = blake3::hash(&file);
    file.extend(digest.as_bytes());
    vec![file]
}

/// Reads an imported key unchanged, and with a correct digest; an accepted key must equal the key of its residues.
fn imported_key(bytes: &[u8]) -> bool {
    let params = once!(Params<Bfv>, golden::insecure_n16());
    as_key_file(bytes, |bytes| {
        let read = SecretKey::parse_imported(bytes, Path::new("key"), params, None);
        let Ok(key) = read else { return false };
        let again = SecretKey::from_unprotected_residues(params, key.unprotected_residues());
        assert!(again.is_ok_and(|again| again.id() == key.id()), "its residues make another key");
        true
    })
}

fn budgets() -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("budget");
    drop(FloodingBudget::create(&path, KeyId([7; 16]), 40, 100).expect("a budget"));
    vec![std::fs::read(path).expect("a budget")]
}

fn budget(bytes: &[u8]) -> bool {
    in_file(bytes, |path| {
        let Ok(budget) = FloodingBudget::open(path) else { return false };
        assert!(budget.left() <= budget.allowed());
        true
    })
}
