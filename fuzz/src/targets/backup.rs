//! Backups of a plant: the file, and the contents of a segment once they are decrypted.

use sotto_keys::{KeyFile, PlantKey, Protection};
use sotto_owner::{BackupOptions, NewPlant, Plant, Unlock, walked_backup, walked_contents};

use super::{Inputs, Target, in_file, quick_folder, write_private};

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    // Buffers of a reader and of two chunks, whatever the length.
    Target { name: "backup", run: backup, inputs: Inputs::Kept(backups), memory: |bytes| 8 * bytes.len() + (768 << 10) },
    Target { name: "backup-contents", run: contents, inputs: Inputs::Kept(all_contents), memory: |bytes| 16 * bytes.len() + 8192 },
];

const KEY: [u8; 32] = [5; 32];

/// Returns a backup of a plant with a known key: whole, and with a second segment.
fn backups() -> Vec<Vec<u8>> {
    let outside = quick_folder();
    let (folder, file) = (outside.path().join("plant"), outside.path().join("backup"));
    let listen = "127.0.0.1:7410".parse().expect("an address");
    Plant::init(&folder, &NewPlant { cloud: None, listen, time_zone: None }).expect("a plant");
    let mut rng = sotto_ring::secure_rng().expect("randomness");
    let protection = Protection::Passphrase("correct horse");
    KeyFile::Plant.write(&folder.join("secrets/plant-key"), &KEY, &protection, &mut rng).expect("written");
    write_private(&outside.path().join("passphrase"), b"correct horse");
    let unlock = Unlock::by_file(outside.path().join("passphrase"));
    let plant = Plant::open(&folder).expect("a plant").unlocking(unlock);
    let made = || {
        let options = BackupOptions { whole: false, passphrase: None };
        plant.backup(&file, options, &mut |_, _| {}).expect("a backup");
        std::fs::read(&file).expect("a backup")
    };
    let whole = made();
    std::fs::write(folder.join("model.json"), "{}").expect("written");
    vec![whole, made()]
}

/// Reads a whole backup unchanged, and with correct digests in its head and in that of its first segment.
fn backup(bytes: &[u8]) -> bool {
    let key = PlantKey::from_bytes(&KEY);
    let read = |bytes: &[u8]| in_file(bytes, |path| walked_backup(path, &key).is_ok());
    let as_they_are = read(bytes);
    as_they_are | with_digests(bytes).is_some_and(|bytes| read(&bytes))
}

fn with_digests(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = bytes.to_vec();
    let length = usize::from(u16::from_le_bytes([*bytes.get(9)?, *bytes.get(10)?]));
    let head = 11 + length + 16 + 32;
    for (from, to) in [(0, head), (head + 32, head + 32 + 79)] {
        let digest = blake3::hash(bytes.get(from..to)?);
        bytes.get_mut(to..to + 32)?.copy_from_slice(digest.as_bytes());
    }
    Some(bytes)
}

fn all_contents() -> Vec<Vec<u8>> {
    let record = |path: &str, bytes: &[u8]| {
        let lengths =
            [(path.len() as u16).to_le_bytes().to_vec(), (bytes.len() as u64).to_le_bytes().to_vec()];
        [&[1][..], &lengths[0], path.as_bytes(), &lengths[1], bytes].concat()
    };
    let list = |text: &str| [&[2][..], &(text.len() as u32).to_le_bytes(), text.as_bytes()].concat();
    let digest = blake3::hash(b"version = 1").to_hex();
    let full = format!(
        r#"{{"version":1,"folders":[{{"path":"secrets","mode":448}}],"files":[{{"path":"sotto.toml","mode":420,"modified":7,"bytes":11,"digest":"{digest}","segment":0}}]}}"#
    );
    let empty = r#"{"version":1,"folders":[],"files":[]}"#;
    vec![
        [record("sotto.toml", b"version = 1"), record("secrets/a.key", &[7; 75]), list(&full)].concat(),
        list(empty),
    ]
}

fn contents(bytes: &[u8]) -> bool {
    walked_contents(bytes).is_some()
}
