//! SEAL's files, which have no checksum: a changed file is another valid object or is refused. Accepted input is
//! written and read again, with equal results.

use sotto_decrypt::Decryptor;
use sotto_keys::SecretKey;
use sotto_ring::{Eval, Poly};
use sotto_rlwe::{Bfv, Evaluator, GaloisKeys, KeySwitchKey, SchemeId};
use sotto_seal::{
    Claim, Convention, SealParameters, inspect, read_ciphertext, read_galois_keys, read_plaintext,
    read_public_key, read_relinearisation_key, read_unprotected_secret_key, write_ciphertext,
    write_galois_keys, write_plaintext, write_public_key, write_relinearisation_key,
    write_unprotected_secret_key,
};

use super::seal_files::*;
use super::{Inputs, Target};

/// Position of the compression byte in a file, and its value for Zstandard.
const COMPRESSION: usize = 5;
const ZSTANDARD: u8 = 2;

/// Memory of inflating: Zstandard's window, which grows to 8 MiB by halves, and the size that the parameters allow,
/// whatever the file's length.
fn inflating(bytes: &[u8]) -> usize {
    let window = if bytes.get(COMPRESSION) == Some(&ZSTANDARD) { 14 << 20 } else { 0 };
    8 * bytes.len() + (192 << 10) + window
}

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    Target { name: "seal-parameters", run: parameters, inputs: Inputs::MadeAnew(parameter_files), memory: inflating },
    Target { name: "seal-inspect", run: anything, inputs: Inputs::MadeAnew(all_files), memory: inflating },
    Target { name: "seal-plaintext-bfv", run: |bytes| plaintext(single(), bytes), inputs: Inputs::MadeAnew(|| plaintexts(single(), vector!("bfv1024.plaintext"))), memory: inflating },
    Target { name: "seal-plaintext-ckks", run: |bytes| plaintext(ckks(), bytes), inputs: Inputs::MadeAnew(|| plaintexts(ckks(), vector!("ckks128chain.plaintext"))), memory: inflating },
    Target { name: "seal-ciphertext-bfv", run: |bytes| !ciphertext(bfv(), bytes).is_empty(), inputs: Inputs::MadeAnew(|| ciphertexts(bfv(), vector!("bfv128chain.seeded"))), memory: inflating },
    Target { name: "seal-ciphertext-ckks", run: |bytes| !ciphertext(ckks(), bytes).is_empty(), inputs: Inputs::MadeAnew(|| ciphertexts(ckks(), vector!("ckks128chain.seeded"))), memory: inflating },
    Target { name: "seal-plaintext-bgv", run: |bytes| plaintext(bgv(), bytes), inputs: Inputs::MadeAnew(bgv_plaintexts), memory: inflating },
    Target { name: "seal-ciphertext-bgv", run: |bytes| !ciphertext(bgv(), bytes).is_empty(), inputs: Inputs::MadeAnew(bgv_ciphertexts), memory: inflating },
    Target { name: "seal-keys-bgv", run: any_bgv_key, inputs: Inputs::MadeAnew(bgv_key_files), memory: inflating },
    Target { name: "seal-public-key", run: |bytes| public_key(single(), bytes), inputs: Inputs::MadeAnew(public_keys), memory: inflating },
    Target { name: "seal-relinearisation-key", run: |bytes| relinearisation_key(bfv(), bytes), inputs: Inputs::MadeAnew(relinearisation_keys), memory: inflating },
    Target { name: "seal-galois-keys", run: |bytes| galois_keys(ckks(), bytes), inputs: Inputs::MadeAnew(galois_key_files), memory: inflating },
    Target { name: "seal-secret-key", run: secret_key, inputs: Inputs::MadeAnew(secret_keys), memory: inflating },
];

/// Tries every reader of keys.
fn any_bgv_key(bytes: &[u8]) -> bool {
    public_key(bgv(), bytes) | relinearisation_key(bgv(), bytes) | galois_keys(bgv(), bytes)
}

fn parameters(bytes: &[u8]) -> bool {
    let Ok(read) = SealParameters::read(bytes) else { return false };
    let again = SealParameters::read(&read.write(PLAIN));
    assert!(again == Ok(read), "written otherwise");
    true
}

fn anything(bytes: &[u8]) -> bool {
    let known = inspect(bytes, Some(bfv().chain.seal()), 1 << 24);
    inspect(bytes, None, 1 << 24).is_ok() | known.is_ok()
}

fn plaintext<S: Convention>(party: &Party<S>, bytes: &[u8]) -> bool {
    let Ok(read) = read_plaintext(bytes, &party.chain) else { return false };
    let written = write_plaintext(&read, &party.chain, PLAIN).expect("of this chain");
    let again = read_plaintext(&written, &party.chain).expect("its own output can be read");
    assert!((again.level(), again.scaling()) == (read.level(), read.scaling()), "written otherwise");
    let trimmed = |values: &[i64]| values.iter().rposition(|value| *value != 0).map_or(0, |last| last + 1);
    let (first, second) = (read.coefficients(), again.coefficients());
    assert!(first[..trimmed(first)] == second[..trimmed(second)], "written otherwise");
    true
}

/// Returns the claims that can be made about a ciphertext of unknown noise.
fn claims<S: Convention>() -> [Claim; 2] {
    let any = match S::ID {
        SchemeId::Ckks => Claim::Values { magnitude: 64.0, error: 1.0 / 1024.0 },
        _ => Claim::Decryptable,
    };
    [FRESH, any]
}

/// Returns the claims under which the ciphertext is accepted.
fn ciphertext<S: Convention>(party: &Party<S>, bytes: &[u8]) -> Vec<Claim> {
    let mut claims = claims::<S>().to_vec();
    claims.retain(|claim| ciphertext_claimed(party, bytes, *claim));
    claims
}

fn ciphertext_claimed<S: Convention>(party: &Party<S>, bytes: &[u8], claim: Claim) -> bool {
    let Party { chain, secret } = party;
    let Ok(read) = read_ciphertext(bytes, chain, secret.id(), claim) else { return false };
    let written = write_ciphertext(&read, chain, WITH_FACTOR).expect("of this chain");
    let again = read_ciphertext(&written, chain, secret.id(), Claim::Bounded(read.shape().noise));
    let again = again.expect("its own output can be read");
    assert!(again.components() == read.components(), "written otherwise");
    let (first, second) = (read.shape(), again.shape());
    assert!((second.level, second.scaling) == (first.level, first.scaling), "written otherwise");
    assert!(second.noise == first.noise, "{:?} is written as {:?}", first.noise, second.noise);
    // Earlier versions of SEAL know no correction factor; a ciphertext without one has the same bytes for all versions.
    if let Ok(portable) = write_ciphertext(&read, chain, PLAIN) {
        assert!(portable == written, "the bytes differ for earlier versions");
    }
    let evaluator = Evaluator::new(chain.params());
    let _ = evaluator.multiply(&read, &read);
    let _ = evaluator.drop_modulus(&read);
    let sum = evaluator.add(&read, &read);
    assert!(claim != Claim::Decryptable || sum.is_err(), "there is no room for the noise of a sum");
    let _ = Decryptor::new(secret).slots(&read);
    true
}

fn public_key<S: Convention>(Party { chain, secret }: &Party<S>, bytes: &[u8]) -> bool {
    let Ok(read) = read_public_key(bytes, chain, secret.id()) else { return false };
    let written = write_public_key(&read, chain, PLAIN).expect("a key of this chain");
    let again = read_public_key(&written, chain, secret.id()).expect("its own output can be read");
    assert!((again.body(), again.mask()) == (read.body(), read.mask()), "written otherwise");
    true
}

type Halves<'k> = (&'k [Poly<Eval>], &'k [Poly<Eval>]);

fn halves(key: &KeySwitchKey) -> Halves<'_> {
    (key.bodies(), key.masks())
}

fn relinearisation_key<S: Convention>(Party { chain, .. }: &Party<S>, bytes: &[u8]) -> bool {
    let Ok(read) = read_relinearisation_key(bytes, chain) else { return false };
    let written = write_relinearisation_key(&read, chain, PLAIN).expect("a key of this chain");
    let again = read_relinearisation_key(&written, chain).expect("its own output can be read");
    assert!(halves(&again) == halves(&read), "written otherwise");
    true
}

fn galois_keys<S: Convention>(Party { chain, .. }: &Party<S>, bytes: &[u8]) -> bool {
    let Ok(read) = read_galois_keys(bytes, chain, MOST_GALOIS) else { return false };
    assert!(read.len() <= MOST_GALOIS);
    let written = write_galois_keys(&read, chain, PLAIN).expect("keys of this chain");
    let again = read_galois_keys(&written, chain, MOST_GALOIS).expect("its own output can be read");
    fn all(keys: &GaloisKeys) -> impl Iterator<Item = (usize, Halves<'_>)> {
        keys.iter().map(|(element, key)| (element, halves(key)))
    }
    assert!(all(&again).eq(all(&read)), "written otherwise");
    true
}

fn secret_key(bytes: &[u8]) -> bool {
    let chain = &bfv().chain;
    let Ok(residues) = read_unprotected_secret_key(bytes, chain) else { return false };
    let Ok(key) = SecretKey::<Bfv>::from_unprotected_residues(chain.params(), &residues) else {
        return false;
    };
    let residues = key.unprotected_residues();
    let written = write_unprotected_secret_key(residues, chain).expect("a key of this chain");
    let again = read_unprotected_secret_key(&written, chain);
    assert!(again.is_ok_and(|again| *again == *residues), "written otherwise");
    true
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Mutator;

    /// Counts the seeds and mutants that are accepted under each claim.
    fn read<S: Convention>(party: &Party<S>, seeds: &[Vec<u8>]) -> [usize; 2] {
        let mut mutator = Mutator::new(1);
        let mutants = (0..300).map(|_| mutator.any(seeds));
        let taken: Vec<Vec<Claim>> =
            seeds.iter().cloned().chain(mutants).map(|bytes| ciphertext(party, &bytes)).collect();
        claims::<S>().map(|claim| taken.iter().filter(|claims| claims.contains(&claim)).count())
    }

    #[test]
    fn ciphertexts_and_their_mutants_are_read_under_every_claim() {
        let bfv_seeds = ciphertexts(bfv(), vector!("bfv128chain.seeded"));
        let ckks_seeds = ciphertexts(ckks(), vector!("ckks128chain.seeded"));
        let counts = [
            (read(bfv(), &bfv_seeds), bfv_seeds.len()),
            (read(bgv(), &bgv_ciphertexts()), bgv_ciphertexts().len()),
            (read(ckks(), &ckks_seeds), ckks_seeds.len()),
        ];
        for ([fresh, any], seeds) in counts {
            assert!(fresh > 2, "{counts:?}: fresh ones");
            assert!(any > seeds, "{counts:?}: all of the seeds, and mutants");
        }
    }

    #[test]
    fn some_seeds_have_a_factor_and_some_three_components() {
        let Party { chain, secret } = bgv();
        let read = |bytes: &Vec<u8>| read_ciphertext(bytes, chain, secret.id(), Claim::Decryptable).unwrap();
        let read: Vec<_> = bgv_ciphertexts().iter().map(read).collect();
        assert!(read.iter().any(|c| c.shape().scaling != 1 && write_ciphertext(c, chain, PLAIN).is_err()));
        assert!(read.iter().any(|c| c.components().len() == 3));
        assert!(read.iter().any(|c| c.level() < chain.params().top_level()));
    }

    #[test]
    fn every_sort_of_bgv_key_is_read() {
        let read = |bytes: &Vec<u8>| {
            [public_key(bgv(), bytes), relinearisation_key(bgv(), bytes), galois_keys(bgv(), bytes)]
        };
        let read: Vec<[bool; 3]> = bgv_key_files().iter().map(read).collect();
        for sort in 0..3 {
            assert!(read.iter().any(|read| read[sort]), "{sort}");
        }
    }
}
