//! SEAL's files, which carry no check of their own: a changed file is another valid object or is refused. What is accepted is
//! written again, read again and the same.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng as _;
use sotto_conformance::golden;
use sotto_decrypt::Decryptor;
use sotto_keys::SecretKey;
use sotto_ring::{Eval, Poly};
use sotto_rlwe::{Bfv, Bgv, Ckks, Evaluator, KeySwitchKey, Origin, Scheme as _};
use sotto_seal::{
    Chain, Claim, Compression, Convention, SealParameters, Writing, inspect, read_ciphertext,
    read_galois_keys, read_plaintext, read_public_key, read_relinearisation_key, read_unprotected_secret_key,
    write_ciphertext, write_galois_keys, write_plaintext, write_public_key, write_relinearisation_key,
    write_unprotected_secret_key,
};

use super::{Inputs, Target, once};

macro_rules! file {
    ($name:literal) => {
        include_bytes!(concat!("../../../conformance/vectors/seal/", $name)).as_slice()
    };
}

/// Not compressed: mutations of what is compressed mostly fail where it is inflated.
const PLAIN: Writing = Writing { compression: Compression::None, seal_4_minor: None };

/// What inflating holds, at most 8 MiB of window, and what the parameters allow, whatever the file's length.
fn inflating(bytes: usize) -> usize {
    16 * bytes + (32 << 20)
}

const FRESH: Claim = Claim::Fresh { origin: Origin::SecretKey, magnitude: 8.0 };
/// More than the files here hold.
const MOST_GALOIS: usize = 3;

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    Target { name: "seal-parameters", run: parameters, inputs: Inputs::MadeAnew(parameter_files), memory: inflating },
    Target { name: "seal-inspect", run: anything, inputs: Inputs::MadeAnew(all_files), memory: inflating },
    Target { name: "seal-plaintext-bfv", run: |bytes| plaintext(single(), bytes), inputs: Inputs::MadeAnew(|| plaintexts(single(), file!("bfv1024.plaintext"))), memory: inflating },
    Target { name: "seal-plaintext-ckks", run: |bytes| plaintext(ckks(), bytes), inputs: Inputs::MadeAnew(|| plaintexts(ckks(), file!("ckks128chain.plaintext"))), memory: inflating },
    Target { name: "seal-ciphertext-bfv", run: |bytes| ciphertext(bfv(), bytes), inputs: Inputs::MadeAnew(|| ciphertexts(bfv(), file!("bfv128chain.seeded"))), memory: inflating },
    Target { name: "seal-ciphertext-ckks", run: |bytes| ciphertext(ckks(), bytes), inputs: Inputs::MadeAnew(|| ciphertexts(ckks(), file!("ckks128chain.seeded"))), memory: inflating },
    Target { name: "seal-plaintext-bgv", run: |bytes| plaintext(bgv(), bytes), inputs: Inputs::MadeAnew(bgv_plaintexts), memory: inflating },
    Target { name: "seal-ciphertext-bgv", run: |bytes| ciphertext(bgv(), bytes), inputs: Inputs::MadeAnew(bgv_ciphertexts), memory: inflating },
    Target { name: "seal-keys-bgv", run: bgv_keys, inputs: Inputs::MadeAnew(bgv_key_files), memory: inflating },
    Target { name: "seal-public-key", run: public_key, inputs: Inputs::MadeAnew(public_keys), memory: inflating },
    Target { name: "seal-relinearisation-key", run: relinearisation_key, inputs: Inputs::MadeAnew(relinearisation_keys), memory: inflating },
    Target { name: "seal-galois-keys", run: galois_keys, inputs: Inputs::MadeAnew(galois_key_files), memory: inflating },
    Target { name: "seal-secret-key", run: secret_key, inputs: Inputs::MadeAnew(secret_keys), memory: inflating },
];

fn parameter_files() -> Vec<Vec<u8>> {
    let files = [
        file!("bfv1024.parameters"),
        file!("bfv4096.parameters"),
        file!("bfv128chain.parameters"),
        file!("ckks128chain.parameters"),
    ];
    let plain = |file| SealParameters::read(file).expect("golden parameters").write(PLAIN);
    files.into_iter().flat_map(|file| [file.to_vec(), plain(file)]).collect()
}

fn plaintexts<S: Convention>(party: &Party<S>, file: &[u8]) -> Vec<Vec<u8>> {
    let read = read_plaintext(file, &party.chain).expect("a golden file");
    vec![file.to_vec(), write_plaintext(&read, &party.chain, PLAIN).expect("of this chain").to_vec()]
}

fn ciphertexts<S: Convention>(party: &Party<S>, file: &[u8]) -> Vec<Vec<u8>> {
    let read = read_ciphertext(file, &party.chain, party.secret.id(), FRESH).expect("a golden file");
    // A fresh CKKS ciphertext is rescaled after a product only.
    let lower = Evaluator::new(party.chain.params()).drop_modulus(&read).ok();
    let plain = |c| write_ciphertext(&c, &party.chain, PLAIN).expect("of this chain");
    [file.to_vec()].into_iter().chain([read].into_iter().chain(lower).map(plain)).collect()
}

/// SEAL's BGV came with version 4: its files here are ours, with and without a correction factor. The other schemes' do not depend
/// on it.
const WITH_FACTOR: Writing = Writing { compression: Compression::None, seal_4_minor: Some(4) };

fn bgv_plaintexts() -> Vec<Vec<u8>> {
    let params = bgv().chain.params();
    let plain = Bgv::encode_scalar(params, 5, params.top_level()).expect("encodes");
    vec![write_plaintext(&plain, &bgv().chain, PLAIN).expect("of this chain").to_vec()]
}

fn bgv_ciphertexts() -> Vec<Vec<u8>> {
    let Party { chain, secret } = bgv();
    let plain = Bgv::encode_scalar(chain.params(), 5, chain.params().top_level()).expect("encodes");
    let fresh = secret.encrypt(&plain, &mut rng()).expect("encrypts").expand();
    let lower = Evaluator::new(chain.params()).drop_modulus(&fresh).expect("drops");
    [fresh, lower].map(|c| write_ciphertext(&c, chain, WITH_FACTOR).expect("of this chain")).to_vec()
}

fn bgv_key_files() -> Vec<Vec<u8>> {
    let Party { chain, secret } = bgv();
    let public = write_public_key(&secret.public_key(&mut rng()), chain, PLAIN).expect("of this chain");
    let keys = secret.evaluation_keys(true, &[1], &mut rng()).expect("keys");
    let relinearisation = keys.relinearisation.as_ref().expect("was asked for");
    let relinearisation = write_relinearisation_key(relinearisation, chain, PLAIN).expect("of this chain");
    let galois = write_galois_keys(&keys.galois, chain, PLAIN).expect("of this chain");
    vec![public, relinearisation, galois]
}

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([5; 32])
}

fn public_keys() -> Vec<Vec<u8>> {
    let (file, Party { chain, secret }) = (file!("bfv1024.public-key"), single());
    let read = read_public_key(file, chain, secret.id()).expect("a golden file");
    vec![file.to_vec(), write_public_key(&read, chain, PLAIN).expect("of this chain")]
}

fn relinearisation_keys() -> Vec<Vec<u8>> {
    let (file, chain) = (file!("bfv128chain.relinearisation"), &bfv().chain);
    let read = read_relinearisation_key(file, chain).expect("a golden file");
    vec![file.to_vec(), write_relinearisation_key(&read, chain, PLAIN).expect("of this chain")]
}

fn galois_key_files() -> Vec<Vec<u8>> {
    let (file, chain) = (file!("ckks128chain.galois"), &ckks().chain);
    let read = read_galois_keys(file, chain, MOST_GALOIS).expect("a golden file");
    vec![file.to_vec(), write_galois_keys(&read, chain, PLAIN).expect("of this chain")]
}

fn secret_keys() -> Vec<Vec<u8>> {
    let (file, party) = (file!("bfv128chain.secret-key"), bfv());
    let plain = write_unprotected_secret_key(party.secret.unprotected_residues(), &party.chain);
    vec![file.to_vec(), plain.expect("of this chain").to_vec()]
}

fn all_files() -> Vec<Vec<u8>> {
    [
        parameter_files(),
        plaintexts(single(), file!("bfv1024.plaintext")),
        ciphertexts(ckks(), file!("ckks128chain.seeded")),
        public_keys(),
        relinearisation_keys(),
        galois_key_files(),
        secret_keys(),
    ]
    .concat()
}

/// A chain, and who decrypts under it.
struct Party<S: Convention> {
    chain: Chain<S>,
    secret: SecretKey<S>,
}

fn party<S: Convention>(parameters: &[u8], scale_bits: Option<u32>, secret: &[u8]) -> Party<S> {
    let parameters = SealParameters::read(parameters).expect("golden parameters");
    let chain = Chain::insecure(&parameters, scale_bits).expect("a chain");
    let residues = read_unprotected_secret_key(secret, &chain).expect("a golden key");
    let secret = SecretKey::from_unprotected_residues(chain.params(), &residues).expect("a ternary key");
    Party { chain, secret }
}

fn single() -> &'static Party<Bfv> {
    once!(Party<Bfv>, party(file!("bfv1024.parameters"), None, file!("bfv1024.secret-key")))
}

fn bfv() -> &'static Party<Bfv> {
    once!(Party<Bfv>, party(file!("bfv128chain.parameters"), None, file!("bfv128chain.secret-key")))
}

fn ckks() -> &'static Party<Ckks> {
    once!(Party<Ckks>, party(file!("ckks128chain.parameters"), Some(30), file!("ckks128chain.secret-key")))
}

fn bgv() -> &'static Party<Bgv> {
    once!(Party<Bgv>, {
        let chain = Chain::new(&golden::insecure_n16::<Bgv>()).expect("a chain");
        let secret = golden::secret(chain.params());
        Party { chain, secret }
    })
}

/// Every reader of keys.
fn bgv_keys(bytes: &[u8]) {
    let Party { chain, secret } = bgv();
    if let Ok(read) = read_public_key(bytes, chain, secret.id()) {
        let written = write_public_key(&read, chain, PLAIN).expect("a key of this chain");
        assert!(read_public_key(&written, chain, secret.id()).is_ok(), "what was written");
    }
    if let Ok(read) = read_relinearisation_key(bytes, chain) {
        let written = write_relinearisation_key(&read, chain, PLAIN).expect("a key of this chain");
        assert!(read_relinearisation_key(&written, chain).is_ok(), "what was written");
    }
    if let Ok(read) = read_galois_keys(bytes, chain, MOST_GALOIS) {
        let written = write_galois_keys(&read, chain, PLAIN).expect("keys of this chain");
        assert!(read_galois_keys(&written, chain, MOST_GALOIS).is_ok(), "what was written");
    }
}

fn parameters(bytes: &[u8]) {
    if let Ok(read) = SealParameters::read(bytes) {
        let again = SealParameters::read(&read.write(PLAIN));
        assert!(again == Ok(read), "written otherwise");
    }
}

fn anything(bytes: &[u8]) {
    let _ = inspect(bytes, None, 1 << 24);
    let _ = inspect(bytes, Some(bfv().chain.seal()), 1 << 24);
}

fn plaintext<S: Convention>(party: &Party<S>, bytes: &[u8]) {
    if let Ok(read) = read_plaintext(bytes, &party.chain) {
        let written = write_plaintext(&read, &party.chain, PLAIN).expect("of this chain");
        let again = read_plaintext(&written, &party.chain).expect("what was written");
        let trimmed =
            |values: &[i64]| values.iter().rposition(|value| *value != 0).map_or(0, |last| last + 1);
        let (first, second) = (read.coefficients(), again.coefficients());
        assert!(first[..trimmed(first)] == second[..trimmed(second)], "written otherwise");
    }
}

fn ciphertext<S: Convention>(party: &Party<S>, bytes: &[u8]) {
    if let Ok(read) = read_ciphertext(bytes, &party.chain, party.secret.id(), FRESH) {
        if let Ok(written) = write_ciphertext(&read, &party.chain, WITH_FACTOR) {
            let again = read_ciphertext(&written, &party.chain, party.secret.id(), FRESH);
            assert!(again.is_ok_and(|again| again.components() == read.components()), "written otherwise");
        }
        let evaluator = Evaluator::new(party.chain.params());
        let _ = evaluator.multiply(&read, &read);
        let _ = Decryptor::new(&party.secret).slots(&read);
    }
}

fn public_key(bytes: &[u8]) {
    let Party { chain, secret } = single();
    if let Ok(read) = read_public_key(bytes, chain, secret.id()) {
        let written = write_public_key(&read, chain, PLAIN).expect("a key of this chain");
        let again = read_public_key(&written, chain, secret.id()).expect("what was written");
        assert!((again.body(), again.mask()) == (read.body(), read.mask()), "written otherwise");
    }
}

fn halves(key: &KeySwitchKey) -> (&[Poly<Eval>], &[Poly<Eval>]) {
    (key.bodies(), key.masks())
}

fn relinearisation_key(bytes: &[u8]) {
    let chain = &bfv().chain;
    if let Ok(read) = read_relinearisation_key(bytes, chain) {
        let written = write_relinearisation_key(&read, chain, PLAIN).expect("a key of this chain");
        let again = read_relinearisation_key(&written, chain).expect("what was written");
        assert!(halves(&again) == halves(&read), "written otherwise");
    }
}

fn galois_keys(bytes: &[u8]) {
    let chain = &ckks().chain;
    if let Ok(read) = read_galois_keys(bytes, chain, MOST_GALOIS) {
        assert!(read.len() <= MOST_GALOIS);
        let written = write_galois_keys(&read, chain, PLAIN).expect("keys of this chain");
        let again = read_galois_keys(&written, chain, MOST_GALOIS).expect("what was written");
        assert!(again.len() == read.len(), "written otherwise");
    }
}

fn secret_key(bytes: &[u8]) {
    let chain = &bfv().chain;
    if let Ok(residues) = read_unprotected_secret_key(bytes, chain)
        && let Ok(key) = SecretKey::<Bfv>::from_unprotected_residues(chain.params(), &residues)
    {
        let residues = key.unprotected_residues();
        let written = write_unprotected_secret_key(residues, chain);
        let again = read_unprotected_secret_key(&written.expect("a key of this chain"), chain);
        assert!(again.is_ok_and(|again| *again == *residues), "written otherwise");
    }
}
