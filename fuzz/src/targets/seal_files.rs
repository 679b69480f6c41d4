//! The first inputs of SEAL's targets, and the chains and keys that they belong to.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng as _;
use sotto_conformance::golden;
use sotto_keys::SecretKey;
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks, Evaluator, Origin, Scheme as _};
use sotto_seal::{
    Chain, Claim, Compression, Convention, SealParameters, Writing, read_ciphertext, read_galois_keys,
    read_plaintext, read_public_key, read_relinearisation_key, read_unprotected_secret_key, write_ciphertext,
    write_galois_keys, write_plaintext, write_public_key, write_relinearisation_key,
    write_unprotected_secret_key,
};

use super::once;

macro_rules! vector {
    ($name:literal) => {
        include_bytes!(concat!("../../../conformance/vectors/seal/", $name)).as_slice()
    };
}
pub(super) use vector;

/// Without compression: most mutations of compressed data fail during inflation.
pub(super) const PLAIN: Writing = Writing { compression: Compression::None, seal_4_minor: None };
/// The other golden files are compressed with Zstandard.
const ZLIB: Writing = Writing { compression: Compression::Zlib, seal_4_minor: None };
/// For a version of SEAL that knows correction factors.
pub(super) const WITH_FACTOR: Writing = Writing { compression: Compression::None, seal_4_minor: Some(4) };

pub(super) const FRESH: Claim = Claim::Fresh { origin: Origin::SecretKey, magnitude: 8.0 };
/// More Galois keys than the files here hold.
pub(super) const MOST_GALOIS: usize = 3;

pub(super) fn parameter_files() -> Vec<Vec<u8>> {
    let files = [
        vector!("bfv1024.parameters"),
        vector!("bfv4096.parameters"),
        vector!("bfv128chain.parameters"),
        vector!("ckks128chain.parameters"),
    ];
    let plain = |file| SealParameters::read(file).expect("golden parameters").write(PLAIN);
    let with_window = windowed(&plain(files[0]));
    let zlib = SealParameters::read(files[2]).expect("golden parameters").write(ZLIB);
    let more = [with_window, bomb(&plain(files[0])), zlib];
    files.into_iter().flat_map(|file| [file.to_vec(), plain(file)]).chain(more).collect()
}

pub(super) fn plaintexts<S: Convention>(party: &Party<S>, file: &[u8]) -> Vec<Vec<u8>> {
    let read = read_plaintext(file, &party.chain).expect("a golden file");
    vec![file.to_vec(), write_plaintext(&read, &party.chain, PLAIN).expect("of this chain").to_vec()]
}

/// Returns a file, and results computed from its ciphertext.
pub(super) fn ciphertexts<S: Convention>(party: &Party<S>, file: &[u8]) -> Vec<Vec<u8>> {
    let read = read_ciphertext(file, &party.chain, party.secret.id(), FRESH).expect("a golden file");
    let computed = computed(party, read.clone());
    let with_window = windowed(&computed[0]);
    let zlib = write_ciphertext(&read, &party.chain, ZLIB).expect("of this chain");
    [file.to_vec(), with_window, zlib].into_iter().chain(computed).collect()
}

/// Returns a fresh ciphertext, one at a lower level, one with three components, and one with both: inputs for claims of
/// other noise.
fn computed<S: Convention>(party: &Party<S>, fresh: Ciphertext<S>) -> Vec<Vec<u8>> {
    let evaluator = Evaluator::new(party.chain.params());
    let product = evaluator.multiply(&fresh, &fresh).expect("multiplies");
    // CKKS ciphertexts are rescaled only after a product.
    let lower = [&fresh, &product].map(|c| evaluator.drop_modulus(c).ok());
    let all = [fresh, product].into_iter().chain(lower.into_iter().flatten());
    all.map(|c| write_ciphertext(&c, &party.chain, WITH_FACTOR).expect("of this chain")).collect()
}

pub(super) fn bgv_plaintexts() -> Vec<Vec<u8>> {
    let params = bgv().chain.params();
    let plain = Bgv::encode_scalar(params, 5, params.top_level()).expect("encodes");
    vec![write_plaintext(&plain, &bgv().chain, PLAIN).expect("of this chain").to_vec()]
}

/// Bytes of the header before every object.
const HEADER: usize = 16;

/// Wraps the members of an uncompressed file as Zstandard data with the largest accepted window.
fn windowed(plain: &[u8]) -> Vec<u8> {
    let members = &plain[HEADER..];
    // A single last block, stored without compression.
    let block = (members.len() as u32 * 8 + 1).to_le_bytes();
    zstandard(plain, &[&block[..3], members].concat())
}

/// Returns a file of less than a kilobyte that inflates to 16 MiB, twice the window.
fn bomb(plain: &[u8]) -> Vec<u8> {
    // 128 blocks, each of which repeats one byte 2^17 times; none is marked as the last.
    let block = (1u32 << 20 | 1 << 1).to_le_bytes();
    zstandard(plain, &[block[0], block[1], block[2], 7].repeat(128))
}

fn zstandard(plain: &[u8], blocks: &[u8]) -> Vec<u8> {
    // The frame's magic number, and a window of 2^23 bytes.
    let frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0, 13 << 3], blocks].concat();
    let mut file = plain[..HEADER].to_vec();
    file[5] = 2;
    file[8..].copy_from_slice(&((HEADER + frame.len()) as u64).to_le_bytes());
    [file, frame].concat()
}

/// SEAL has BGV since version 4: our own writer makes these files.
pub(super) fn bgv_ciphertexts() -> Vec<Vec<u8>> {
    let Party { chain, secret } = bgv();
    let plain = Bgv::encode_scalar(chain.params(), 5, chain.params().top_level()).expect("encodes");
    let fresh = secret.encrypt(&plain, &mut rng()).expect("encrypts").expand();
    computed(bgv(), fresh)
}

pub(super) fn bgv_key_files() -> Vec<Vec<u8>> {
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

pub(super) fn public_keys() -> Vec<Vec<u8>> {
    let (file, Party { chain, secret }) = (vector!("bfv1024.public-key"), single());
    let read = read_public_key(file, chain, secret.id()).expect("a golden file");
    vec![file.to_vec(), write_public_key(&read, chain, PLAIN).expect("of this chain")]
}

pub(super) fn relinearisation_keys() -> Vec<Vec<u8>> {
    let (file, chain) = (vector!("bfv128chain.relinearisation"), &bfv().chain);
    let read = read_relinearisation_key(file, chain).expect("a golden file");
    vec![file.to_vec(), write_relinearisation_key(&read, chain, PLAIN).expect("of this chain")]
}

pub(super) fn galois_key_files() -> Vec<Vec<u8>> {
    let (file, chain) = (vector!("ckks128chain.galois"), &ckks().chain);
    let read = read_galois_keys(file, chain, MOST_GALOIS).expect("a golden file");
    vec![file.to_vec(), write_galois_keys(&read, chain, PLAIN).expect("of this chain")]
}

pub(super) fn secret_keys() -> Vec<Vec<u8>> {
    let (file, party) = (vector!("bfv128chain.secret-key"), bfv());
    let plain = write_unprotected_secret_key(party.secret.unprotected_residues(), &party.chain);
    vec![file.to_vec(), plain.expect("of this chain").to_vec()]
}

/// Messages of TenSEAL's `serialize()`, which hold SEAL's objects, and a product of three parts.
fn tenseal_and_product() -> Vec<Vec<u8>> {
    let files = [vector!("tenseal.context"), vector!("tenseal.vector"), vector!("bgv128single.product")];
    files.map(<[u8]>::to_vec).to_vec()
}

pub(super) fn all_files() -> Vec<Vec<u8>> {
    [
        parameter_files(),
        tenseal_and_product(),
        plaintexts(single(), vector!("bfv1024.plaintext")),
        ciphertexts(ckks(), vector!("ckks128chain.seeded")),
        public_keys(),
        relinearisation_keys(),
        galois_key_files(),
        secret_keys(),
    ]
    .concat()
}

/// A chain, and a secret key under it.
pub(super) struct Party<S: Convention> {
    pub(super) chain: Chain<S>,
    pub(super) secret: SecretKey<S>,
}

fn party<S: Convention>(parameters: &[u8], scale_bits: Option<u32>, secret: &[u8]) -> Party<S> {
    let parameters = SealParameters::read(parameters).expect("golden parameters");
    let chain = Chain::insecure(&parameters, scale_bits).expect("a chain");
    let residues = read_unprotected_secret_key(secret, &chain).expect("a golden key");
    let secret = SecretKey::from_unprotected_residues(chain.params(), &residues).expect("a ternary key");
    Party { chain, secret }
}

pub(super) fn single() -> &'static Party<Bfv> {
    once!(Party<Bfv>, party(vector!("bfv1024.parameters"), None, vector!("bfv1024.secret-key")))
}

pub(super) fn bfv() -> &'static Party<Bfv> {
    once!(Party<Bfv>, party(vector!("bfv128chain.parameters"), None, vector!("bfv128chain.secret-key")))
}

pub(super) fn ckks() -> &'static Party<Ckks> {
    once!(
        Party<Ckks>,
        party(vector!("ckks128chain.parameters"), Some(30), vector!("ckks128chain.secret-key"))
    )
}

pub(super) fn bgv() -> &'static Party<Bgv> {
    once!(Party<Bgv>, {
        let chain = Chain::new(&golden::insecure_n16::<Bgv>()).expect("a chain");
        let secret = golden::secret(chain.params());
        Party { chain, secret }
    })
}
