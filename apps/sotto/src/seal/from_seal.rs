//! From SEAL's files to ours.

use sotto_keys::{ImportedKeyError, SecretKey};
use sotto_ring::{Eval, Poly, secure_rng};
use sotto_rlwe::{EvaluationKeys, Origin, ParameterSpec, Params, SchemeId};
use sotto_seal::{Chain, Claim, Convention, Kind, SealParameters};
use sotto_wire::AnyCiphertext;
use zeroize::Zeroizing;

use super::convert::{Arguments, Converted, Fresh};
use super::files;
use super::parameters::{chain, check, from_seal as ours, key_id, named};
use crate::keys::passphrase;

/// Galois keys in a file, at most, unless the user knows of more. SEAL makes those of every step by a power of two, both ways, and
/// of the row swap, 2·log2(n) − 2 in all, unless it is told which; five more are for steps of a program's own. Each takes up to
/// digits · primes · 16n bytes, which in a compressed file may be a few.
fn most_galois(degree: usize) -> usize {
    2 * degree.ilog2() as usize + 3
}

/// Parameters to a frame of ours.
pub(super) fn parameters(bytes: &[u8], arguments: &Arguments) -> anyhow::Result<Converted> {
    let Ok(seal) = SealParameters::read(bytes) else {
        anyhow::bail!("anything but parameters needs them: give --parameters, SEAL's file or ours");
    };
    let spec = ours(&seal, arguments.scale_bits)?;
    check(&spec)?;
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
    let description = sotto_seal::inspect(bytes, Some(chain.seal()), files::most_inflated(bytes.len()))?;
    let kind = arguments.decide(description.kind)?;
    let params = chain.params();
    let about = |what: &str| format!("{what}: {}", named(params));
    let key = || key_id(arguments.key_id.as_deref());
    let mut keys = None;
    let frame = match kind {
        Kind::Ciphertext => {
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
            let most = arguments.most_galois_keys.unwrap_or_else(|| most_galois(params.degree()));
            let held = description.parts.unwrap_or(u64::MAX);
            anyhow::ensure!(
                held <= most as u64,
                "the file says that it holds {held} Galois keys, and {most} are taken: if it does, say --most-galois-keys {held}"
            );
            found.galois = sotto_seal::read_galois_keys(bytes, &chain, most)?;
            sotto_wire::write_evaluation_keys(found)
        }
        Kind::SecretKey => return secret_key(bytes, &chain, arguments),
        Kind::Plaintext => anyhow::bail!("plaintexts are not kept in files here: encode the values again"),
        Kind::Parameters => return parameters(bytes, arguments),
        Kind::CiphertextOrPublicKey => anyhow::bail!("say what the file is with --kind"),
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
    let mut said =
        format!("secret key, under your passphrase: {}\nkey id {}", named(chain.params()), key.id());
    if !fits_the_cloud(chain.params(), &residues) {
        said.push_str(
            "\nNOT for sotto-cloud: this key's norm passes what its noise bounds rest on, as that of one key in a hundred; make another \
             key for it",
        );
    }
    Ok(Converted { files: Vec::new(), private: true, said })
}

/// Whether noise bounds hold for a key where its parameters are held against the guidelines of 2024, as the cloud does; so they do
/// where that refuses the parameters.
fn fits_the_cloud<S: Convention>(params: &Params<S>, residues: &Poly<Eval>) -> bool {
    let Ok(cloud) = Params::<S>::new(params.spec().clone()) else { return true };
    !matches!(SecretKey::from_unprotected_residues(&cloud, residues), Err(ImportedKeyError::Norm))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sotto_rlwe::Bfv;

    #[test]
    fn the_keys_that_seal_makes_are_taken_and_few_others() {
        for degree in [4096, 8192, 16384, 32768] {
            let params = Params::<Bfv>::default_chain(degree, 65537).unwrap();
            let made = params.power_of_two_steps().len();
            assert!((made..=made + 5).contains(&most_galois(degree)), "{made} at n = {degree}");
        }
    }
}
