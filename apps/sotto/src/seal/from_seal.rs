//! From SEAL's files to ours.

use sotto_keys::SecretKey;
use sotto_ring::secure_rng;
use sotto_rlwe::{EvaluationKeys, Origin, ParameterSpec, SchemeId};
use sotto_seal::{Chain, Claim, Convention, Kind, SealParameters};
use sotto_wire::AnyCiphertext;
use zeroize::Zeroizing;

use super::convert::{Arguments, Converted, Fresh};
use super::parameters::{chain, from_seal as ours, key_id, named};
use crate::keys::passphrase;

/// Galois keys in a file, at most: those of every step by a power of two, both ways, at the largest degree are fewer.
const MOST_GALOIS: usize = 256;
/// What is inflated at most to find out what a file is.
const LARGEST: u64 = 1 << 34;

/// Parameters to a frame of ours.
pub(super) fn parameters(bytes: &[u8], arguments: &Arguments) -> anyhow::Result<Converted> {
    let Ok(seal) = SealParameters::read(bytes) else {
        anyhow::bail!("anything but parameters needs them: give --parameters, SEAL's file or ours");
    };
    let spec = ours(&seal, arguments.scale_bits)?;
    let frame = sotto_wire::write_parameters(&spec);
    let said = format!("{} parameters {}", spec.scheme, spec.id());
    Ok(one(arguments, frame, said))
}

/// Any other object.
pub(super) fn from_seal<S: Convention>(
    spec: ParameterSpec,
    bytes: &[u8],
    arguments: &Arguments,
) -> anyhow::Result<Converted> {
    let chain = chain::<S>(spec)?;
    let kind = sotto_seal::inspect(bytes, Some(chain.seal()), LARGEST)?.kind;
    let params = chain.params();
    let about = |what: &str| format!("{what}: {}", named(params));
    let key = || key_id(arguments.key_id.as_deref());
    let mut keys = None;
    let frame = match kind {
        // With one prime a public key and a ciphertext are told apart by nothing: a ciphertext is asked for far more often.
        Kind::Ciphertext | Kind::CiphertextOrPublicKey => {
            let claim = claim::<S>(arguments)?;
            let ciphertext = sotto_seal::read_ciphertext(bytes, &chain, key()?, claim)?;
            AnyCiphertext::Expanded(ciphertext).write()
        }
        Kind::PublicKey => sotto_wire::write_public_key(&sotto_seal::read_public_key(bytes, &chain, key()?)?),
        Kind::RelinearisationKeys => {
            let found = keys.insert(EvaluationKeys::empty(params, key()?));
            found.relinearisation = Some(sotto_seal::read_relinearisation_key(bytes, &chain)?);
            sotto_wire::write_evaluation_keys(found)
        }
        Kind::GaloisKeys => {
            let found = keys.insert(EvaluationKeys::empty(params, key()?));
            found.galois = sotto_seal::read_galois_keys(bytes, &chain, MOST_GALOIS)?;
            sotto_wire::write_evaluation_keys(found)
        }
        Kind::SecretKey => return secret_key(bytes, &chain, arguments),
        Kind::Plaintext => anyhow::bail!("plaintexts are not kept in files here: encode the values again"),
        Kind::Parameters => return parameters(bytes, arguments),
    };
    Ok(one(arguments, frame, about(kind.name())))
}

fn one(arguments: &Arguments, bytes: Vec<u8>, said: String) -> Converted {
    let files = vec![(arguments.output.clone(), Zeroizing::new(bytes))];
    Converted { files, private: false, said }
}

fn claim<S: Convention>(arguments: &Arguments) -> anyhow::Result<Claim> {
    let real = S::ID == SchemeId::Ckks;
    anyhow::ensure!(!real || arguments.magnitude.is_some(), "CKKS: give --magnitude, the largest |value|");
    let magnitude = arguments.magnitude.unwrap_or(1.0);
    let origin = match (arguments.fresh, arguments.error) {
        (Some(Fresh::SecretKey), _) => Origin::SecretKey,
        (Some(Fresh::PublicKey), _) => Origin::PublicKey,
        (None, Some(error)) if real => return Ok(Claim::Values { magnitude, error }),
        (None, _) if real => anyhow::bail!(
            "give --fresh, if the ciphertext was not computed on, or --error, the largest error of a value in it"
        ),
        (None, _) => return Ok(Claim::Decryptable),
    };
    Ok(Claim::Fresh { origin, magnitude })
}

fn secret_key<S: Convention>(
    bytes: &[u8],
    chain: &Chain<S>,
    arguments: &Arguments,
) -> anyhow::Result<Converted> {
    arguments.require_secret_key_asked()?;
    let residues = sotto_seal::read_unprotected_secret_key(bytes, chain)?;
    let key = SecretKey::from_unprotected_residues(chain.params(), &residues)?;
    key.write_imported(&arguments.output, &passphrase(true)?, &mut secure_rng()?)?;
    let said = format!("secret key, under your passphrase: {}\nkey id {}", named(chain.params()), key.id());
    Ok(Converted { files: Vec::new(), private: true, said })
}
