//! Converts our files to SEAL's.

use std::path::{Path, PathBuf};

use sotto_keys::{DeviceSecret, KeyFile, SecretKey};
use sotto_rlwe::{EvaluationKeys, ParameterSpec};
use sotto_seal::{Chain, Compression, Convention, SealParameters};
use sotto_wire::{AnyCiphertext, EvaluationKeyCounts, Kind};
use zeroize::Zeroizing;

use super::arguments::{Convert, Converted};
use super::parameters::{chain, check, named};
use crate::keys::passphrase;

/// The most keys read from a frame.
const MOST: EvaluationKeyCounts = EvaluationKeyCounts { relinearisation: true, galois: 256, transfers: 0 };
/// The first bytes of a key file.
const KEY_FILE: &[u8] = b"sottokey";

/// Converts a frame of parameters.
pub(super) fn parameters(bytes: &[u8], arguments: &Convert) -> anyhow::Result<Converted> {
    anyhow::ensure!(
        sotto_wire::frame_kind(bytes) == Ok(Kind::Parameters),
        "this is not a parameters file: to convert it, pass --parameters with SEAL's parameters file or ours"
    );
    let spec = sotto_wire::read_parameters(bytes)?;
    check(&spec)?;
    let seal = SealParameters::of(&spec)?;
    let said = format!("{} parameters {}", spec.scheme, seal.parms_id(seal.primes.len()));
    Ok(files(vec![(arguments.output.clone(), seal.write(arguments.writing()))], said))
}

/// Converts any other frame, or a key file.
pub(super) fn to_seal<S: Convention>(
    spec: ParameterSpec,
    bytes: &[u8],
    arguments: &Convert,
) -> anyhow::Result<Converted> {
    let chain = chain::<S>(spec)?;
    if bytes.starts_with(KEY_FILE) {
        return secret_key(&chain, arguments);
    }
    let (params, writing, output) = (chain.params(), arguments.writing(), &arguments.output);
    let kind = sotto_wire::frame_kind(bytes)?;
    let written = match kind {
        Kind::Ciphertext => {
            let ciphertext = AnyCiphertext::read(bytes, params)?.with_claimed_shape().expand();
            vec![(output.clone(), sotto_seal::write_ciphertext(&ciphertext, &chain, writing)?)]
        }
        Kind::PublicKey | Kind::ExpandedPublicKey => {
            let key = sotto_wire::read_public_key(bytes, params)?;
            vec![(output.clone(), sotto_seal::write_public_key(&key, &chain, writing)?)]
        }
        Kind::EvaluationKeys | Kind::ExpandedEvaluationKeys => {
            let keys = sotto_wire::read_evaluation_keys(bytes, params, MOST)?;
            evaluation_keys(&keys, &chain, arguments)?
        }
        Kind::Parameters => return parameters(bytes, arguments),
        _ => anyhow::bail!("SEAL has no counterpart of {kind}"),
    };
    Ok(files(written, format!("{kind}: {}", named(params))))
}

/// Writes evaluation keys. SEAL keeps relinearisation and Galois keys in separate files: if there are both, each name
/// gets a suffix.
fn evaluation_keys<S: Convention>(
    keys: &EvaluationKeys<S>,
    chain: &Chain<S>,
    arguments: &Convert,
) -> anyhow::Result<Vec<(PathBuf, Vec<u8>)>> {
    let writing = arguments.writing();
    let both = keys.relinearisation.is_some() && !keys.galois.is_empty();
    let path =
        |name: &str| if both { with_suffix(&arguments.output, name) } else { arguments.output.clone() };
    let mut written = Vec::new();
    if let Some(key) = &keys.relinearisation {
        written.push((path("relinearisation"), sotto_seal::write_relinearisation_key(key, chain, writing)?));
    }
    if !keys.galois.is_empty() {
        written.push((path("galois"), sotto_seal::write_galois_keys(&keys.galois, chain, writing)?));
    }
    anyhow::ensure!(!written.is_empty(), "the frame holds no keys that SEAL has");
    Ok(written)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}

fn files(written: Vec<(PathBuf, Vec<u8>)>, said: String) -> Converted {
    let files = written.into_iter().map(|(path, bytes)| (path, Zeroizing::new(bytes))).collect();
    Converted { files, private: false, said }
}

/// Converts a device's secret, or a secret key imported from SEAL.
fn secret_key<S: Convention>(chain: &Chain<S>, arguments: &Convert) -> anyhow::Result<Converted> {
    arguments.require_secret_key_asked()?;
    anyhow::ensure!(
        arguments.writing().compression == Compression::None,
        "a secret key is written without compression, because a compressor leaves unwiped copies in memory: leave --compress out"
    );
    let (params, passphrase) = (chain.params(), passphrase(false)?);
    let key = match KeyFile::Device.read(&arguments.file, Some(passphrase.as_str())) {
        Ok(secret) => SecretKey::derive(&DeviceSecret::from_bytes(&secret), params),
        Err(_) => SecretKey::read_imported(&arguments.file, params, &passphrase)?,
    };
    let bytes = sotto_seal::write_unprotected_secret_key(key.unprotected_residues(), chain)?;
    let said = format!("secret key, NOT protected: {}\nkey id {}", named(params), key.id());
    Ok(Converted { files: vec![(arguments.output.clone(), bytes)], private: true, said })
}
