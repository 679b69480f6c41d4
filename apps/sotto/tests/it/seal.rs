//! Runs `sotto seal` on files that SEAL wrote (conformance/vectors/seal): describes them, and converts them to ours and
//! back without loss.

use std::path::Path;
use std::process::{Command, Output};

use sotto_keys::{DeviceSecret, SecretKey};
use sotto_rlwe::{Bfv, Bgv, Evaluator, KeyId, Origin, Scheme as _, SchemeId};
use sotto_seal::{
    Chain, Claim, Compression, SealParameters, Writing, read_ciphertext, read_plaintext, read_public_key,
    read_unprotected_secret_key, write_ciphertext, write_galois_keys, write_plaintext, write_public_key,
    write_unprotected_secret_key,
};

struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/vectors/seal");
        for kind in ["parameters", "secret-key", "seeded", "public-key", "plaintext"] {
            let name = format!("bfv1024.{kind}");
            std::fs::copy(golden.join(&name), folder.path().join(kind)).unwrap();
        }
        Self { folder }
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.folder.path().join(name)).unwrap()
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.folder.path().join(name), bytes).unwrap();
    }

    fn sotto(&self, words: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sotto"));
        command.arg("seal").args(words.split_whitespace()).current_dir(self.folder.path());
        command.env("SOTTO_PASSPHRASE", "a long passphrase").output().unwrap()
    }

    fn done(&self, words: &str) -> String {
        let output = self.sotto(words);
        assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn refused(&self, words: &str) -> String {
        let output = self.sotto(words);
        assert!(!output.status.success(), "{words}");
        String::from_utf8(output.stderr).unwrap()
    }
}

#[test]
fn files_come_here_and_go_back() {
    let files = Files::new();
    files.done("convert parameters parameters.sotto");
    let with = "--parameters parameters.sotto";
    let why = files.refused(&format!("convert secret-key secret.key {with}"));
    assert!(why.contains("--unprotected-secret-key"), "{why}");
    let said = files.done(&format!("convert secret-key secret.key {with} --unprotected-secret-key"));
    let id = said.lines().find_map(|line| line.strip_prefix("key id ")).unwrap();
    let why = files.refused(&format!("convert seeded a.sotto {with} --fresh secret-key"));
    assert!(why.contains("--key-id"), "{why}");
    files.done(&format!("convert seeded a.sotto {with} --fresh secret-key --key-id {id}"));
    files.done(&format!("convert public-key public.sotto {with} --key-id {id}"));
    assert!(!files.refused(&format!("convert plaintext x {with}")).is_empty());
    assert!(
        files
            .refused(&format!("convert public-key public.sotto {with} --key-id {id}"))
            .contains("cannot write")
    );

    files.done("convert parameters.sotto parameters.back --compress zlib");
    files.done(&format!("convert a.sotto a.back {with} --compress zstandard"));
    files.done(&format!("convert public.sotto public.back {with}"));
    let why = files.refused(&format!("convert secret.key secret.back {with}"));
    assert!(why.contains("--unprotected-secret-key"), "{why}");
    files.done(&format!("convert secret.key secret.back {with} --unprotected-secret-key"));

    let parameters = SealParameters::read(&files.read("parameters")).unwrap();
    assert_eq!(SealParameters::read(&files.read("parameters.back")).unwrap(), parameters);
    let chain = Chain::<Bfv>::from_seal(&parameters, None).unwrap();
    let claim = Claim::Fresh { origin: Origin::SecretKey, magnitude: 1.0 };
    let ciphertext = |name| read_ciphertext(&files.read(name), &chain, KeyId([0; 16]), claim).unwrap();
    assert_eq!(ciphertext("a.back").components(), ciphertext("seeded").components());
    let public = |name| read_public_key(&files.read(name), &chain, KeyId([0; 16])).unwrap();
    assert_eq!(public("public.back").mask(), public("public-key").mask());
    let secret = |name| read_unprotected_secret_key(&files.read(name), &chain).unwrap();
    assert!(*secret("secret.back") == *secret("secret-key"));
    #[cfg(unix)]
    for name in ["secret.key", "secret.back"] {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(files.folder.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn files_are_described() {
    let files = Files::new();
    let described = |words: &str| -> serde_json::Value {
        serde_json::from_str(&files.done(&format!("inspect {words} --json"))).unwrap()
    };
    let parameters = described("parameters");
    assert_eq!((parameters["kind"].as_str(), parameters["n"].as_u64()), (Some("parameters"), Some(1024)));
    assert_eq!(parameters["plain_modulus"].as_u64(), Some(12289));
    let seeded = described("seeded --parameters parameters");
    assert_eq!(seeded["kind"].as_str(), Some("ciphertext"));
    assert_eq!((seeded["seeded"].as_bool(), seeded["level"].as_u64()), (Some(true), Some(0)));
    assert_eq!(seeded["compression"].as_str(), Some("zstandard"));
    // The sizes of the format: header, fields, one polynomial, seed.
    assert_eq!(seeded["uncompressed_bytes"].as_u64(), Some(16 + 73 + 24 + 8 * 1024 + 81));
    assert_eq!(described("public-key --parameters parameters")["kind"].as_str(), Some("public key"));
    assert!(files.done("inspect secret-key").starts_with("kind"));
    assert!(!files.refused("inspect seeded --parameters seeded").is_empty());
}

/// A Zstandard block can state "repeat this byte" up to 128 KiB in four bytes.
#[test]
fn a_file_that_inflates_without_end_is_not_followed() {
    let files = Files::new();
    let parameters = SealParameters::read(&files.read("parameters")).unwrap();
    let chain = Chain::<Bfv>::insecure(&parameters, None).unwrap();
    let plain = read_plaintext(&files.read("plaintext"), &chain);
    let writing = Writing { compression: Compression::None, seal_4_minor: None };
    let plain = write_plaintext(&plain.unwrap(), &chain, writing).unwrap();
    let (header, members) = plain.split_at(16);
    let raw = (members.len() as u32) << 3;
    // A plaintext, then 8 GiB of zeros.
    let mut frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0, 13 << 3], &raw.to_le_bytes()[..3], members].concat();
    for block in 1..=1u32 << 16 {
        let last = u32::from(block == 1 << 16);
        frame.extend_from_slice(&(1 << 20 | 1 << 1 | last).to_le_bytes());
    }
    let mut file = header.to_vec();
    file[5] = 2;
    file[8..].copy_from_slice(&(16 + frame.len() as u64).to_le_bytes());
    files.write("bomb", &[file, frame].concat());
    let said = files.done("inspect bomb");
    assert!(said.starts_with("kind                plaintext\n"), "{said}");
    assert!(said.ends_with(&format!("bytes uncompressed  more than {}\n", 1u64 << 28)), "{said}");
}

#[test]
fn parameters_are_checked_before_they_are_written() {
    let files = Files::new();
    let below = |bits: u32, count: usize| {
        sotto_ring::primes::below(1 << bits, 4096).take(count).collect::<Vec<u64>>()
    };
    let small = [below(40, 2), below(20, 1)].concat();
    let composite = (1..).map(|k| (1u64 << 35) + 1 + 8192 * k).find(|q| q % 3 == 0).unwrap();
    let good = below(35, 3);
    let bfv = |primes: &[u64], plain_modulus| SealParameters {
        scheme: SchemeId::Bfv,
        degree: 4096,
        primes: primes.to_vec(),
        plain_modulus,
    };
    let cases = [
        ("as they should be", bfv(&good, 65537), true),
        ("a composite number for a prime", bfv(&[good[0], composite, good[1]], 65537), false),
        ("no plain modulus", bfv(&good, 0), false),
        ("more primes than are taken", bfv(&below(20, 70), 65537), false),
        ("a last prime that is too small", bfv(&small, 65537), false),
        ("too many bits for the degree", bfv(&below(60, 3), 65537), false),
    ];
    for (i, (what, seal, taken)) in cases.into_iter().enumerate() {
        files.write(&format!("{i}.seal"), &seal.write(Writing::default()));
        let output = files.sotto(&format!("convert {i}.seal {i}.sotto"));
        assert_eq!(output.status.success(), taken, "{what}");
        assert_eq!(files.folder.path().join(format!("{i}.sotto")).exists(), taken, "{what}");
        files.write(&format!("{i}.frame"), &sotto_wire::write_parameters(&seal.spec(None).unwrap()));
        assert_eq!(files.sotto(&format!("convert {i}.frame {i}.back")).status.success(), taken, "{what}");
    }
    let (first, near) = (below(36, 2), below(30, 1));
    let ckks = SealParameters { scheme: SchemeId::Ckks, ..bfv(&[first[0], near[0], first[1]], 0) };
    files.write("ckks", &ckks.write(Writing::default()));
    files.done("convert ckks ckks.sotto --scale-bits 30");
    for bits in [0, 61, 4_000_000_000u32] {
        files.refused(&format!("convert ckks other.sotto --scale-bits {bits}"));
    }
}

#[test]
fn with_one_prime_the_user_says_what_it_is() {
    let files = Files::new();
    let primes = SealParameters::read(&files.read("parameters")).unwrap().primes;
    let parameters = SealParameters { scheme: SchemeId::Bgv, degree: 1024, primes, plain_modulus: 12289 };
    let chain = Chain::<Bgv>::from_seal(&parameters, None).unwrap();
    let key = SecretKey::derive(&DeviceSecret::from_bytes(&[3; 32]), chain.params());
    let public = key.public_key(&mut sotto_ring::secure_rng().unwrap());
    files.write("bgv", &parameters.write(Writing::default()));
    files.write("bgv.key", &write_public_key(&public, &chain, Writing::default()).unwrap());
    let with = format!("--parameters bgv --key-id {}", hex::encode(key.id().0));
    let why = files.refused(&format!("convert bgv.key a.sotto {with}"));
    assert!(why.contains("--kind"), "{why}");
    files.done(&format!("convert bgv.key public.sotto {with} --kind public-key"));
    let kind = |name| sotto_wire::frame_kind(&files.read(name)).unwrap();
    assert_eq!(kind("public.sotto"), sotto_wire::Kind::ExpandedPublicKey);
    files.done(&format!("convert bgv.key ciphertext.sotto {with} --kind ciphertext"));
    assert_eq!(kind("ciphertext.sotto"), sotto_wire::Kind::Ciphertext);
    // If the bytes show the kind, a contradicting `--kind` is refused.
    let why = files.refused(&format!(
        "convert public-key x --parameters parameters --kind ciphertext --key-id {}",
        hex::encode([0; 16])
    ));
    assert!(why.contains("public key"), "{why}");
}

#[test]
fn more_galois_keys_than_seal_makes_are_asked_for() {
    let files = Files::new();
    let primes = sotto_ring::primes::below(1 << 27, 2048).take(2).collect();
    let parameters = SealParameters { scheme: SchemeId::Bfv, degree: 2048, primes, plain_modulus: 12289 };
    let chain = Chain::<Bfv>::from_seal(&parameters, None).unwrap();
    let key = SecretKey::derive(&DeviceSecret::from_bytes(&[3; 32]), chain.params());
    let steps: Vec<i32> = (1..=26).collect();
    let keys = key.evaluation_keys(false, &steps, &mut sotto_ring::secure_rng().unwrap()).unwrap();
    files.write("bfv", &parameters.write(Writing::default()));
    files.write("galois", &write_galois_keys(&keys.galois, &chain, Writing::default()).unwrap());
    let with = format!("--parameters bfv --key-id {}", hex::encode(key.id().0));
    let why = files.refused(&format!("convert galois x {with}"));
    assert!(why.contains("--most-galois-keys 26"), "{why}");
    files.done(&format!("convert galois galois.sotto {with} --most-galois-keys 26"));
}

#[test]
fn keys_that_the_clouds_bounds_do_not_cover_are_named() {
    let files = Files::new();
    let primes = sotto_ring::primes::below(1 << 26, 2048).take(2).collect();
    let parameters = SealParameters { scheme: SchemeId::Bfv, degree: 2048, primes, plain_modulus: 12289 };
    let chain = Chain::<Bfv>::from_seal(&parameters, None).unwrap();
    files.write("bfv", &parameters.write(Writing::default()));
    // Norms of about 60 and 200 at the first root; the limit of the guidelines is 125, the limit for any secret 370.
    for (ones, named) in [(60, false), (200, true)] {
        let coefficients = (0..2048).map(|i| i64::from(i < ones)).collect();
        let secret = sotto_ring::SmallPoly::from_coefficients(coefficients);
        let key = SecretKey::from_secret(chain.params(), KeyId([1; 16]), &secret);
        let bytes = write_unprotected_secret_key(key.unprotected_residues(), &chain).unwrap();
        files.write(&format!("{ones}.secret"), &bytes);
        let said = files
            .done(&format!("convert {ones}.secret {ones}.key --parameters bfv --unprotected-secret-key"));
        assert_eq!(said.contains("NOT for sotto-cloud"), named, "{said}");
    }
}

#[test]
fn secret_keys_are_not_compressed() {
    let files = Files::new();
    let with = "--parameters parameters --unprotected-secret-key";
    files.done(&format!("convert secret-key secret.key {with}"));
    let why = files.refused(&format!("convert secret.key secret.back {with} --compress zlib"));
    assert!(why.contains("--compress"), "{why}");
}

#[test]
fn a_product_under_one_prime_comes_here_and_goes_back() {
    let files = Files::new();
    let primes = sotto_ring::primes::below(1 << 54, 2048).take(1).collect();
    let parameters = SealParameters { scheme: SchemeId::Bgv, degree: 2048, primes, plain_modulus: 17 };
    let chain = Chain::<Bgv>::from_seal(&parameters, None).unwrap();
    let (params, mut rng) = (chain.params(), sotto_ring::secure_rng().unwrap());
    let key = SecretKey::derive(&DeviceSecret::from_bytes(&[3; 32]), params);
    let three = Bgv::encode_scalar(params, 3, params.top_level()).unwrap();
    let three = key.encrypt(&three, &mut rng).unwrap().expand();
    let nine = Evaluator::new(params).multiply(&three, &three).unwrap();
    let writing = Writing { compression: Compression::Zlib, seal_4_minor: Some(4) };
    files.write("bgv", &parameters.write(Writing::default()));
    files.write("product", &write_ciphertext(&nine, &chain, writing).unwrap());
    let said = files.done("inspect product --parameters bgv --json");
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((said["kind"].as_str(), said["parts"].as_u64()), (Some("ciphertext"), Some(3)));
    let with = format!("--parameters bgv --key-id {}", hex::encode(key.id().0));
    files.done(&format!("convert product product.sotto {with}"));
    files.done("convert product.sotto product.back --parameters bgv --seal-minor 4");
    let back = read_ciphertext(&files.read("product.back"), &chain, key.id(), Claim::Decryptable).unwrap();
    assert_eq!(back.components(), nine.components());
    let why = files.refused(&format!("convert product x {with} --kind public-key"));
    assert!(why.contains("kind ciphertext"), "{why}");
}

#[test]
fn refusals_name_the_way_out() {
    let files = Files::new();
    for name in ["tenseal.context", "tenseal.vector"] {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/vectors/seal");
        std::fs::copy(golden.join(name), files.folder.path().join(name)).unwrap();
        for words in ["inspect FILE", "convert FILE x", "convert FILE x --parameters parameters"] {
            let why = files.refused(&words.replace("FILE", name));
            assert!(why.contains("TenSEAL's serialize()") && why.contains(".save("), "{words}: {why}");
        }
        let why = files.refused(&format!("convert seeded x --parameters {name}"));
        assert!(why.contains("TenSEAL's serialize()"), "{why}");
    }
    let mut later = files.read("parameters");
    (later[3], later[4]) = (4, 6);
    files.write("later", &later);
    files.done("convert later later.sotto");
    later.pop();
    files.write("cut", &later);
    let why = files.refused("convert cut x");
    assert!(why.contains("SEAL 4.6 wrote this"), "{why}");
    let ckks =
        SealParameters { scheme: SchemeId::Ckks, ..SealParameters::read(&files.read("parameters")).unwrap() };
    files.write("ckks", &ckks.write(Writing::default()));
    for words in ["inspect ckks", "convert ckks x --scale-bits 20", "convert seeded x --parameters ckks"] {
        let why = files.refused(words);
        assert!(why.contains("plain modulus 12289"), "{words}: {why}");
    }
    let why = files.refused("convert seeded x");
    assert!(why.contains("kind ciphertext") && why.contains("--parameters"), "{why}");
}
