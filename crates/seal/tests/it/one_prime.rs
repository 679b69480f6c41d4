//! BGV under a single prime: products cannot be relinearised there, so their files have three parts.

use sotto_decrypt::Decryptor;
use sotto_keys::SecretKey;
use sotto_rlwe::{Bgv, Ciphertext, Origin, SchemeId};
use sotto_seal::*;

macro_rules! golden {
    ($kind:literal) => {
        include_bytes!(concat!("../../../../conformance/vectors/seal/bgv128single.", $kind)).as_slice()
    };
}

const PRODUCT: &[u8] = golden!("product");

fn parameters() -> SealParameters {
    SealParameters::read(golden!("parameters")).unwrap()
}

fn chain() -> Chain<Bgv> {
    Chain::insecure(&parameters(), None).unwrap()
}

fn secret(chain: &Chain<Bgv>) -> SecretKey<Bgv> {
    let residues = read_unprotected_secret_key(golden!("secret-key"), chain).unwrap();
    SecretKey::from_unprotected_residues(chain.params(), &residues).unwrap()
}

fn slots(key: &SecretKey<Bgv>, ciphertext: &Ciphertext<Bgv>) -> Vec<i64> {
    let slots = Decryptor::new(key).slots(ciphertext).unwrap().into_residues();
    slots.into_iter().map(|slot| slot.rem_euclid(257)).collect()
}

#[test]
fn a_product_is_a_ciphertext_with_and_without_parameters() {
    for seal in [None, Some(&parameters())] {
        let found = inspect(PRODUCT, seal, 1 << 20).unwrap();
        assert_eq!((found.kind, found.parts), (Kind::Ciphertext, Some(3)), "a public key has two parts");
        assert_eq!((found.degree, found.primes, found.seeded), (Some(128), Some(1), Some(false)));
        assert_eq!(found.level, seal.map(|_| 0));
        // BFV ciphertexts transformed by hand have the same fields.
        assert_eq!(found.scheme, seal.map(|_| SchemeId::Bgv));
    }
    let fresh = inspect(golden!("seeded"), Some(&parameters()), 1 << 20).unwrap();
    assert_eq!((fresh.kind, fresh.parts), (Kind::CiphertextOrPublicKey, Some(2)));
}

#[test]
fn a_product_is_read_decrypted_and_written_without_loss() {
    let (chain, squares) = (chain(), (0..128).map(|i| i * i % 257).collect::<Vec<i64>>());
    let key = secret(&chain);
    let read = read_ciphertext(PRODUCT, &chain, key.id(), Claim::Decryptable).unwrap();
    assert_eq!((read.components().len(), read.level()), (3, 0));
    assert_eq!(slots(&key, &read), squares);
    for compression in [Compression::None, Compression::Zlib, Compression::Zstandard] {
        let writing = Writing { compression, seal_4_minor: Some(3) };
        let written = write_ciphertext(&read, &chain, writing).unwrap();
        let again = read_ciphertext(&written, &chain, key.id(), Claim::Decryptable).unwrap();
        assert_eq!(again.components(), read.components(), "{compression:?}");
        let found = inspect(&written, Some(chain.seal()), 1 << 20).unwrap();
        assert_eq!((found.kind, found.parts), (Kind::Ciphertext, Some(3)), "{compression:?}");
        assert_eq!(found.inflated, Some(113 + 8 * 128 * 3), "{compression:?}");
    }
}

#[test]
fn a_seeded_ciphertext_of_seal_expands() {
    let chain = chain();
    let key = secret(&chain);
    let claim = Claim::Fresh { origin: Origin::SecretKey, magnitude: 1.0 };
    let read = read_ciphertext(golden!("seeded"), &chain, key.id(), claim).unwrap();
    assert_eq!(slots(&key, &read), (0..128).collect::<Vec<i64>>());
}

#[test]
fn a_product_is_no_public_key_and_four_parts_are_refused() {
    let chain = chain();
    assert!(read_public_key(PRODUCT, &chain, secret(&chain).id()).is_err());
    let read = read_ciphertext(PRODUCT, &chain, secret(&chain).id(), Claim::Decryptable).unwrap();
    let writing = Writing { seal_4_minor: Some(3), ..Writing::default() };
    let mut bytes = write_ciphertext(&read, &chain, writing).unwrap();
    bytes[16 + 33] = 4;
    let why = read_ciphertext(&bytes, &chain, secret(&chain).id(), Claim::Decryptable).unwrap_err();
    assert!(why.to_string().contains("relinearise"), "{why}");
}
