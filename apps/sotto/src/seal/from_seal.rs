//! Converts SEAL's files to ours.

use sotto_keys::{ImportedKeyError, SecretKey};
use sotto_ring::{Eval, Poly, secure_rng};
use sotto_rlwe::{EvaluationKeys, Origin, ParameterSpec, Params};
use sotto_seal::{Chain, Claim, Convention, Kind, SealError, SealParameters};
use sotto_wire::AnyCiphertext;
use zeroize::Zeroizing;

use super::arguments::{Convert, Converted, Fresh};
use super::files;
use super::parameters::{chain, check, from_seal as ours, key_id, named};
use crate::keys::passphrase;

/// Returns the most Galois keys read from a file, unless the user allows more. By default SEAL makes the keys of every
/// step by a power of two in both directions and of the row swap, 2·log2(n) − 2 in all; five more are for a program's
/// own steps. Each key takes up to digits · primes · 16n bytes, which a compressed file may state in a few.
fn most_galois(degree: usize) -> usize {
    2 * degree.ilog2() as usize + 3
}

/// Converts parameters to a frame of ours.
pub(super) fn parameters(bytes: &[u8], arguments: &Convert) -> anyhow::Result<Converted> {
    let seal = match SealParameters::read(bytes) {
        Ok(seal) => seal,
        Err(refused) => return Err(not_parameters(bytes, refused)),
    };
    let spec = ours(&seal, arguments.scale_bits)?;
    check(&spec)?;
    let frame = sotto_wire::write_parameters(&spec);
    let said = format!("{} parameters {}", spec.scheme, spec.id());
    Ok(one(arguments, frame, said))
}

/// Says why a file is not read as parameters: it is another object, or no file that is read.
fn not_parameters(bytes: &[u8], refused: SealError) -> anyhow::Error {
    match sotto_seal::inspect(bytes, None, files::most_inflated(bytes.len())) {
        Ok(found) if found.kind == Kind::Parameters => refused.into(),
        Ok(found) => anyhow::anyhow!(
            "this is not a parameters file but one of kind {}: to convert it, pass --parameters with SEAL's parameters file or ours",
            found.kind.name()
        ),
        Err(unknown) => unknown.into(),
    }
}

/// Converts any other object.
pub(super) fn from_seal<S: Convention>(
    spec: ParameterSpec,
    bytes: &[u8],
    arguments: &Convert,
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
                "the file claims to hold {held} Galois keys, more than {most}: if that is right, pass --most-galois-keys {held}"
            );
            found.galois = sotto_seal::read_galois_keys(bytes, &chain, most)?;
            sotto_wire::write_evaluation_keys(found)
        }
        Kind::SecretKey => return secret_key(bytes, &chain, arguments),
        Kind::Plaintext => {
            anyhow::bail!("there is no file format for plaintexts here: encode the values again")
        }
        Kind::Parameters => return parameters(bytes, arguments),
        Kind::CiphertextOrPublicKey => anyhow::bail!("the file's kind is ambiguous: pass --kind"),
    };
    Ok(one(arguments, frame, about(kind.name())))
}

fn one(arguments: &Convert, bytes: Vec<u8>, said: String) -> Converted {
    let files = vec![(arguments.output.clone(), Zeroizing::new(bytes))];
    Converted { files, private: false, said }
}

fn claim<S: Convention>(arguments: &Convert) -> anyhow::Result<Claim> {
    let real = !S::EXACT;
    anyhow::ensure!(!real || arguments.magnitude.is_some(), "CKKS: give --magnitude, the largest |value|");
    let magnitude = arguments.magnitude.unwrap_or(1.0);
    let origin = match (arguments.fresh, arguments.error) {
        (Some(Fresh::SecretKey), _) => Origin::SecretKey,
        (Some(Fresh::PublicKey), _) => Origin::PublicKey,
        (None, Some(error)) if real => return Ok(Claim::Values { magnitude, error }),
        (None, _) if real => anyhow::bail!(
            "pass --fresh, if the ciphertext was not computed on, or --error, the largest error of a value in it"
        ),
        (None, _) => return Ok(Claim::Decryptable),
    };
    Ok(Claim::Fresh { origin, magnitude })
}

fn secret_key<S: Convention>(
    bytes: &[u8],
    chain: &Chain<S>,
    arguments: &Convert,
) -> anyhow::Result<Converted> {
    arguments.require_secret_key_asked()?;
    let residues = sotto_seal::read_unprotected_secret_key(bytes, chain)?;
    let key = SecretKey::from_unprotected_residues(chain.params(), &residues)?;
    key.write_imported(&arguments.output, &passphrase(true)?, &mut secure_rng()?)?;
    let mut said =
        format!("secret key, under your passphrase: {}\nkey id {}", named(chain.params()), key.id());
    if !fits_the_cloud(chain.params(), &residues) {
        said.push_str(
            "\nNOT for sotto-cloud: this key's norm is above the limit of the cloud's noise bounds, as in one key of a hundred; make another \
             key for it",
        );
    }
    Ok(Converted { files: Vec::new(), private: true, said })
}

/// Returns true if the cloud's noise bounds hold for the key. The cloud checks parameters against the guidelines of
/// 2024; if these refuse the parameters, there is no bound to exceed.
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
