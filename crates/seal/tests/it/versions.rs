//! Files of versions later than 4.4: read by the layout of 4.4, and refused by name if they do not have it.

use sotto_decrypt::Decryptor;
use sotto_keys::SecretKey;
use sotto_rlwe::{Bfv, Bgv, KeyId, Origin};
use sotto_seal::*;

macro_rules! golden {
    ($name:literal) => {
        include_bytes!(concat!("../../../../conformance/vectors/seal/", $name)).as_slice()
    };
}

const FRESH: Claim = Claim::Fresh { origin: Origin::SecretKey, magnitude: 8.0 };
const ID: KeyId = KeyId([7; 16]);
/// Position of the minor version in a header; the compression follows.
const MINOR: usize = 4;
const LATER: [u8; 3] = [5, 9, 255];

/// Returns a file of SEAL as version 4.`minor` would have written it.
fn by(file: &[u8], minor: u8) -> Vec<u8> {
    assert_eq!(file[3], 4, "SEAL 4 wrote the golden files");
    let mut file = file.to_vec();
    file[MINOR] = minor;
    file
}

fn bfv() -> Chain<Bfv> {
    Chain::insecure(&SealParameters::read(golden!("bfv128chain.parameters")).unwrap(), None).unwrap()
}

fn single() -> Chain<Bfv> {
    Chain::insecure(&SealParameters::read(golden!("bfv1024.parameters")).unwrap(), None).unwrap()
}

#[test]
fn later_files_with_the_known_layout_are_read() {
    let (chain, single) = (bfv(), single());
    for minor in LATER {
        let parameters = SealParameters::read(&by(golden!("bfv128chain.parameters"), minor)).unwrap();
        assert_eq!(&parameters, chain.seal(), "4.{minor}");
        let residues =
            read_unprotected_secret_key(&by(golden!("bfv128chain.secret-key"), minor), &chain).unwrap();
        let key = SecretKey::<Bfv>::from_unprotected_residues(chain.params(), &residues).unwrap();
        let file = by(golden!("bfv128chain.seeded"), minor);
        let read = read_ciphertext(&file, &chain, key.id(), FRESH).unwrap();
        let slots = Decryptor::new(&key).slots(&read).unwrap().into_residues();
        assert!((0..128).eq(slots.into_iter().map(|slot| slot.rem_euclid(257))), "4.{minor}");
        read_relinearisation_key(&by(golden!("bfv128chain.relinearisation"), minor), &chain).unwrap();
        read_galois_keys(&by(golden!("bfv128chain.galois"), minor), &chain, 1).unwrap();
        read_public_key(&by(golden!("bfv1024.public-key"), minor), &single, ID).unwrap();
        read_plaintext(&by(golden!("bfv1024.plaintext"), minor), &single).unwrap();
        let found = inspect(&file, Some(chain.seal()), 1 << 20).unwrap();
        assert_eq!((found.kind, found.version), (Kind::Ciphertext, Version::four(minor)));
    }
}

#[test]
fn later_headers_inside_an_object_are_read() {
    let parameters = SealParameters::read(golden!("bgv128single.parameters")).unwrap();
    let chain = Chain::<Bgv>::insecure(&parameters, None).unwrap();
    let product = golden!("bgv128single.product");
    let read = read_ciphertext(product, &chain, ID, Claim::Decryptable).unwrap();
    for minor in LATER {
        // The writer gives the header of the array the same version.
        let writing = Writing { seal_4_minor: Some(minor), ..Writing::default() };
        let file = write_ciphertext(&read, &chain, writing).unwrap();
        let again = read_ciphertext(&file, &chain, ID, Claim::Decryptable).unwrap();
        assert_eq!(again.components(), read.components(), "4.{minor}");
    }
}

type Damage = (&'static str, fn(&mut Vec<u8>));

/// Changes that another layout would look like.
const DAMAGE: [Damage; 6] = [
    ("a longer header", |file| file[2] = 0x18),
    ("a reserved field in use", |file| file[6] = 1),
    ("another compression", |file| file[MINOR + 1] = 3),
    ("a byte more", |file| file.push(0)),
    ("a byte less", |file| file.truncate(file.len() - 1)),
    ("a field more", |file| {
        let at = 16 + 65;
        file.splice(at..at, [0; 8]);
        let bytes = file.len() as u64;
        file[8..16].copy_from_slice(&bytes.to_le_bytes());
    }),
];

#[test]
fn later_files_of_another_layout_are_refused_by_name() {
    let parameters = SealParameters::read(golden!("bgv128single.parameters")).unwrap();
    let chain = Chain::<Bgv>::insecure(&parameters, None).unwrap();
    let read = read_ciphertext(golden!("bgv128single.product"), &chain, ID, Claim::Decryptable).unwrap();
    for (what, damage) in DAMAGE {
        let refusals = [4, 5, 255].map(|minor| {
            let writing = Writing { seal_4_minor: Some(minor), ..Writing::default() };
            let mut file = write_ciphertext(&read, &chain, writing).unwrap();
            damage(&mut file);
            let refused = inspect(&file, Some(chain.seal()), 1 << 20).unwrap_err();
            (refused, read_ciphertext(&file, &chain, ID, Claim::Decryptable).unwrap_err())
        });
        let [(inspected, read), later @ ..] = refusals;
        for (minor, (seen, refused)) in [5, 255].into_iter().zip(later) {
            let version = Version::four(minor);
            assert_eq!(seen, SealError::Later { version, refused: Box::new(inspected.clone()) }, "{what}");
            let said = refused.to_string();
            assert_eq!(refused, SealError::Later { version, refused: Box::new(read.clone()) }, "{what}");
            assert!(said.contains(&version.to_string()) && said.contains("SEAL 4.4 or earlier"), "{said}");
            assert!(said.contains(&read.to_string()), "{said}");
        }
    }
}

#[test]
fn every_reader_names_a_later_version() {
    let (chain, single) = (bfv(), single());
    let cut = |file: &[u8]| by(&file[..file.len() - 1], 7);
    let key = cut(golden!("bfv128chain.secret-key"));
    let refusals = [
        SealParameters::read(&cut(golden!("bfv128chain.parameters"))).map(|_| ()),
        read_unprotected_secret_key(&key, &chain).map(|_| ()),
        read_ciphertext(&cut(golden!("bfv128chain.seeded")), &chain, ID, FRESH).map(|_| ()),
        read_relinearisation_key(&cut(golden!("bfv128chain.relinearisation")), &chain).map(|_| ()),
        read_galois_keys(&cut(golden!("bfv128chain.galois")), &chain, 1).map(|_| ()),
        read_public_key(&cut(golden!("bfv1024.public-key")), &single, ID).map(|_| ()),
        read_plaintext(&cut(golden!("bfv1024.plaintext")), &single).map(|_| ()),
    ];
    for (i, refused) in refusals.into_iter().enumerate() {
        assert!(matches!(refused, Err(SealError::Later { .. })), "{i}: {refused:?}");
    }
}

#[test]
fn refusals_that_no_layout_explains_stay_as_they_are() {
    let later = by(golden!("bfv128chain.seeded"), 5);
    let wrong = SealParameters { plain_modulus: 769, ..bfv().seal().clone() };
    assert_eq!(inspect(&later, Some(&wrong), 1 << 20), Err(SealError::ParmsId));
    let values = Claim::Values { magnitude: 1.0, error: 0.1 };
    let refused = read_ciphertext(&later, &bfv(), ID, values).unwrap_err();
    assert!(matches!(refused, SealError::Value(_)), "a wrong claim: {refused}");
}
