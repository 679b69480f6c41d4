//! `sotto seal` on files that SEAL wrote (conformance/vectors/seal): what it says of them, and that nothing is lost on the way here
//! and back.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};

use sotto_rlwe::{Bfv, KeyId, Origin};
use sotto_seal::{
    Chain, Claim, SealParameters, read_ciphertext, read_public_key, read_unprotected_secret_key,
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
    // As the format gives it: header, fields, one polynomial, seed.
    assert_eq!(seeded["uncompressed_bytes"].as_u64(), Some(16 + 73 + 24 + 8 * 1024 + 81));
    assert_eq!(described("public-key --parameters parameters")["kind"].as_str(), Some("public key"));
    assert!(files.done("inspect secret-key").starts_with("kind"));
    assert!(!files.refused("inspect seeded --parameters seeded").is_empty());
}
