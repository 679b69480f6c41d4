//! What lies in files beside secrets: key files (the agent's is in [`super::partial_frames`]), and the budget of flooded results.

use std::path::Path;

use sotto_conformance::golden;
use sotto_decrypt::FloodingBudget;
use sotto_keys::KeyFile;
use sotto_rlwe::KeyId;

use super::{Inputs, Target, in_file};

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    Target { name: "key-file", run: key_file, inputs: Inputs::Kept(key_files), memory: |bytes| 2 * bytes + 4096 },
    Target { name: "flooding-budget", run: budget, inputs: Inputs::Kept(budgets), memory: |bytes| 4 * bytes + (32 << 10) },
];

fn key_files() -> Vec<Vec<u8>> {
    ["device.key", "signing.key", "owner.key"].map(golden::read).to_vec()
}

/// As it is, and with a right digest. Without a passphrase: to try one takes 64 MiB and a tenth of a second, by design.
fn key_file(bytes: &[u8]) {
    let read = |bytes: &[u8]| {
        for kind in [KeyFile::Device, KeyFile::Signing] {
            let _ = kind.parse(bytes, Path::new("key"), None).map_err(|error| error.to_string());
        }
    };
    read(bytes);
    if let Some(end) = bytes.len().checked_sub(32) {
        let mut sealed = bytes.to_vec();
        let digest = blake3::hash(&sealed[..end]);
        sealed[end..].copy_from_slice(digest.as_bytes());
        read(&sealed);
    }
}

fn budgets() -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("budget");
    drop(FloodingBudget::create(&path, KeyId([7; 16]), 40, 100).expect("a budget"));
    vec![std::fs::read(path).expect("a budget")]
}

fn budget(bytes: &[u8]) {
    in_file(bytes, |path| {
        if let Ok(budget) = FloodingBudget::open(path) {
            assert!(budget.left() <= budget.allowed());
        }
    });
}
