//! Tests of key files.

use std::fs;

use super::cost::COST;
use super::format::{DIGEST, HEADER, IN_THE_CLEAR, MAGIC, TAG};
use super::*;

fn rng() -> impl SecretRng {
    sotto_ring::secure_rng().unwrap()
}

#[test]
fn files_round_trip_and_refuse_what_they_should() {
    let folder = tempfile::tempdir().unwrap();
    let secret = [7; 32];
    let plain = folder.path().join("device.key");
    KeyFile::Device.write(&plain, &secret, &Protection::FileMode, &mut rng()).unwrap();
    assert_eq!(*KeyFile::Device.read(&plain, None).unwrap(), secret);
    assert!(KeyFile::Signing.read(&plain, None).is_err(), "another kind");
    assert!(KeyFile::Device.write(&plain, &secret, &Protection::FileMode, &mut rng()).is_err(), "overwrites");

    let locked = folder.path().join("owner.key");
    KeyFile::Device.write(&locked, &secret, &Protection::Passphrase("correct horse"), &mut rng()).unwrap();
    assert_eq!(*KeyFile::Device.read(&locked, Some("correct horse")).unwrap(), secret);
    assert!(matches!(KeyFile::Device.read(&locked, None), Err(KeyFileError::Passphrase { .. })));
    assert!(matches!(KeyFile::Device.read(&locked, Some("wrong")), Err(KeyFileError::Passphrase { .. })));
    let bytes = fs::read(&locked).unwrap();
    assert!(!bytes.windows(8).any(|w| w == [7; 8]), "the secret is not in the file");
}

/// Appends the digest of `body`.
fn with_digest(body: &[u8]) -> Vec<u8> {
    [body, blake3::hash(body).as_bytes()].concat()
}

fn locked() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("owner.key");
    KeyFile::Device.write(&path, &[7; 32], &Protection::Passphrase("correct horse"), &mut rng()).unwrap();
    fs::read(path).unwrap()
}

fn parse(bytes: &[u8], passphrase: Option<&str>) -> Result<Zeroizing<[u8; 32]>, KeyFileError> {
    KeyFile::Device.parse(bytes, Path::new("owner.key"), passphrase)
}

#[test]
fn a_passphrase_opens_no_file_without_protection() {
    let swapped = with_digest(&[MAGIC, &[1, 1, IN_THE_CLEAR][..], &[9; 32]].concat());
    assert!(parse(&swapped, None).is_ok());
    let refused = parse(&swapped, Some("correct horse")).unwrap_err();
    assert!(refused.to_string().contains("is not under a passphrase"), "{refused}");
}

/// Written by version 0.1, before files held the cost. The secret comes from the copy that the same
/// program made for the device.
#[test]
fn files_of_fixed_cost_stay_readable() {
    let file = hex(
        "736f74746f6b6579010101572bb2eabf055fac7bfb638cbca5a1d7f66bbbbb26430f150b013814b9d2e166e02f7bd8fa5f08fb6c5a43a9ce169f880e\
         de60e96b43f9dccd77e5972138be79c88d457cdd08c64dced0667f8786f77d5e61836ab2ac86a71a98b3a8b6380cf91e9ee851578c22fb1468cbe47c\
         d0d43c0145ad1293cbde7d",
    );
    let secret = hex("e76b5e9b44d2076becdc1b9fcedfdf143f059e025be52acaaf197f829af412a1");
    assert_eq!(parse(&file, Some("a long passphrase")).unwrap().as_slice(), secret);
    assert!(matches!(parse(&file, Some("another passphrase")), Err(KeyFileError::Passphrase { .. })));
}

fn hex(text: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap();
    (0..text.len() / 2).map(digit).collect()
}

#[test]
fn the_cost_is_in_the_file_bounded_and_bound_to_the_secret() {
    let file = locked();
    assert_eq!(file[10..23], [&[2][..], &[0, 0, 1, 0], &[3, 0, 0, 0], &[1, 0, 0, 0]].concat());
    let with_cost = |memory: u32, passes: u32, lanes: u32| {
        let mut body = file[..file.len() - DIGEST].to_vec();
        body[HEADER..HEADER + COST].copy_from_slice(&[memory, passes, lanes].map(u32::to_le_bytes).concat());
        parse(&with_digest(&body), Some("correct horse")).map(drop)
    };
    with_cost(64 << 10, 3, 1).unwrap();
    // Another cost gives another key, and the cost is associated data too.
    for (memory, passes, lanes) in [(8, 1, 1), (64, 16, 8), (64 << 10, 3, 2)] {
        let refused = with_cost(memory, passes, lanes);
        assert!(matches!(refused, Err(KeyFileError::Passphrase { .. })), "{memory} {passes} {lanes}");
    }
    let beyond = [
        (u32::MAX, 3, 1),
        ((1 << 20) + 1, 3, 1),
        (7, 3, 1),
        (8 * 16 - 1, 3, 16),
        (64 << 10, 0, 1),
        (64 << 10, 17, 1),
        (64 << 10, u32::MAX, 1),
        (64 << 10, 3, 0),
        (64 << 10, 3, 17),
        (64 << 10, 3, u32::MAX),
    ];
    for (memory, passes, lanes) in beyond {
        let refused = with_cost(memory, passes, lanes);
        assert!(matches!(refused, Err(KeyFileError::Damaged { .. })), "{memory} {passes} {lanes}");
    }
    for length in HEADER..file.len() - DIGEST - TAG {
        let cut = parse(&with_digest(&file[..length]), None).map(drop);
        assert!(cut.is_err(), "{length}");
    }
}

#[cfg(unix)]
#[test]
fn modes_and_damage() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("device.key");
    KeyFile::Device.write(&path, &[9; 32], &Protection::FileMode, &mut rng()).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let bytes = fs::read(&path).unwrap();
    for (i, _) in bytes.iter().enumerate() {
        let mut damaged = bytes.clone();
        damaged[i] ^= 1;
        fs::write(&path, &damaged).unwrap();
        assert!(KeyFile::Device.read(&path, None).is_err(), "byte {i}");
        fs::write(&path, &bytes[..i]).unwrap();
        assert!(KeyFile::Device.read(&path, None).is_err(), "cut at {i}");
    }
    fs::write(&path, &bytes).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(KeyFile::Device.read(&path, None), Err(KeyFileError::Mode { .. })));
}

#[cfg(unix)]
#[test]
fn a_key_comes_through_a_pipe_and_nothing_longer_than_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let (path, pipe) = (folder.path().join("device.key"), folder.path().join("pipe"));
    KeyFile::Device.write(&path, &[9; 32], &Protection::FileMode, &mut rng()).unwrap();
    let bytes = fs::read(&path).unwrap();
    let made = std::process::Command::new("mkfifo").args(["-m", "600"]).arg(&pipe).status().unwrap();
    assert!(made.success());
    let through_pipe = |bytes: &[u8]| {
        std::thread::scope(|scope| {
            // The reader may stop before the writer has written everything.
            scope.spawn(|| drop(fs::write(&pipe, bytes)));
            KeyFile::Device.read(&pipe, None)
        })
    };
    assert_eq!(*through_pipe(&bytes).unwrap(), [9; 32]);
    let long = [bytes, vec![0; 1 << 20]].concat();
    assert!(matches!(through_pipe(&long), Err(KeyFileError::Damaged { .. })));
    fs::write(&path, &long).unwrap();
    assert!(matches!(KeyFile::Device.read(&path, None), Err(KeyFileError::Damaged { .. })));
}

fn under(key: &PlantKey) -> Protection<'_> {
    Protection::PlantKey { key, name: "boiler.key" }
}

fn sealed(key: &PlantKey) -> Vec<u8> {
    KeyFile::Device.encode(&[7; 32], under(key), &mut rng()).unwrap().to_vec()
}

#[test]
fn only_the_plants_key_opens_a_sealed_file() {
    let key = PlantKey::generate(&mut rng());
    let file = sealed(&key);
    assert!(!file.windows(8).any(|w| w == [7; 8]), "the secret is not in the file");
    assert_ne!(file, sealed(&key), "another nonce");
    let path = Path::new("boiler.key");
    let open = |kind: KeyFile, protection: Protection<'_>| kind.parse(&file, path, protection);
    assert_eq!(*open(KeyFile::Device, under(&key)).unwrap(), [7; 32]);
    let other = PlantKey::generate(&mut rng());
    for (protection, reason) in [
        (Protection::FileMode, "only `sotto` with this plant's passphrase"),
        (Protection::Passphrase("correct horse"), "only `sotto` with this plant's passphrase"),
        (under(&other), "another plant"),
    ] {
        let refused = open(KeyFile::Device, protection).unwrap_err();
        assert!(matches!(refused, KeyFileError::Passphrase { .. }));
        assert!(refused.to_string().contains(reason), "{refused}");
    }
    assert!(open(KeyFile::Signing, under(&key)).is_err(), "another kind");
    for name in ["pump.key", "boiler.ke", "boiler.key2", ""] {
        let refused = open(KeyFile::Device, Protection::PlantKey { key: &key, name }).unwrap_err();
        assert!(refused.to_string().contains("under this name"), "{refused}");
    }
    // A file in the clear is refused where the plant has a key.
    let clear = KeyFile::Device.encode(&[9; 32], Protection::FileMode, &mut rng()).unwrap();
    let refused = KeyFile::Device.parse(&clear, path, under(&key)).unwrap_err();
    assert!(refused.to_string().contains("in the clear"), "{refused}");
}

#[test]
fn every_byte_of_a_sealed_file_counts() {
    let key = PlantKey::generate(&mut rng());
    let file = sealed(&key);
    let body = &file[..file.len() - DIGEST];
    for at in 0..body.len() {
        let mut changed = body.to_vec();
        changed[at] ^= 1;
        let read = KeyFile::Device.parse(&with_digest(&changed), Path::new("f"), under(&key));
        assert!(read.is_err(), "byte {at}");
        let read = KeyFile::Device.parse(&with_digest(&body[..at]), Path::new("f"), under(&key));
        assert!(read.is_err(), "cut at {at}");
    }
}

#[test]
fn a_plants_key_has_a_public_name_that_stays_when_the_passphrase_changes() {
    let key = PlantKey::generate(&mut rng());
    let under = |passphrase: &str| {
        let protection = Protection::Passphrase(passphrase);
        KeyFile::Plant.encode(key.expose_secret_bytes(), protection, &mut rng()).unwrap()
    };
    let (first, second) = (under("correct horse"), under("battery staple"));
    assert_eq!(PlantKey::name_of(&first), Some(key.name()));
    assert_eq!(PlantKey::name_of(&second), Some(key.name()));
    assert_eq!(PlantKey::name_of(&sealed(&key)), None);
    let opened = KeyFile::Plant.parse(&second, Path::new("plant-key"), Some("battery staple")).unwrap();
    assert_eq!(*opened, *key.expose_secret_bytes());
    // The name is bound to the key.
    let mut renamed = first[..first.len() - DIGEST].to_vec();
    renamed[HEADER] ^= 1;
    assert!(
        KeyFile::Plant.parse(&with_digest(&renamed), Path::new("plant-key"), Some("correct horse")).is_err()
    );
}

#[test]
fn a_text_is_sealed_like_a_key_and_bounded() {
    let key = PlantKey::generate(&mut rng());
    let (text, path) = (b"-----BEGIN PRIVATE KEY-----", Path::new("authority-key"));
    let file = KeyFile::Document.encode(text, under(&key), &mut rng()).unwrap();
    assert_eq!(KeyFile::of(&file), Some(KeyFile::Document));
    assert_eq!(KeyFile::protected(&file), Some(Protected::PlantKey(key.name())));
    assert_eq!(*KeyFile::Document.parse_bytes(&file, path, under(&key)).unwrap(), text);
    assert!(KeyFile::Document.encode(&vec![0; (1 << 20) + 1], Protection::FileMode, &mut rng()).is_err());
}
