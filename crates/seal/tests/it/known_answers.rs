//! Known answers of SEAL 4.4: identities of levels, primes, roots, streams, uniform polynomials, sizes,
//! headers.

use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::{Modulus, primes};
use sotto_rlwe::{Bfv, Evaluator, Scheme, SchemeId};
use sotto_seal::{
    Chain, Generator, SealParameters, Stream, Writing, uniform_words, write_ciphertext, write_public_key,
    write_relinearisation_key, write_unprotected_secret_key,
};

/// BFVDefault(4096) at 128 bits.
const PRIMES_4096: [u64; 3] = [0xf_fffe_e001, 0xf_fffc_4001, 0x1f_fffe_0001];

/// A seed of the words 1 … 8.
fn seed() -> [u8; 64] {
    let mut seed = [0; 64];
    for (i, word) in seed.chunks_exact_mut(8).enumerate() {
        word.copy_from_slice(&(i as u64 + 1).to_le_bytes());
    }
    seed
}

fn bfv_4096() -> SealParameters {
    let primes = PRIMES_4096.to_vec();
    SealParameters { scheme: SchemeId::Bfv, degree: 4096, primes, plain_modulus: 1_032_193 }
}

#[test]
fn levels_have_seals_names() {
    let bfv = bfv_4096();
    let names = [
        "7bd2410e9e049f9eb60cc4f7e99bfe55716ebf815e957548335426e4266f0c0e",
        "34779ca7413cfe19042a04464658a49b4fbdacaadd8b622f4a9ab9e12ab78702",
        "51f0b0172e4629d58f1802d4c7c257c0100dde01dcdbf661e004a4627e01f9bf",
    ];
    for (count, name) in (1..).zip(names) {
        assert_eq!(bfv.parms_id(count).to_string(), name, "{count} primes");
    }
    let ckks = SealParameters {
        scheme: SchemeId::Ckks,
        degree: 8192,
        primes: vec![0xfff_ffff_fffe_8001, 0xff_fff4_c001, 0xff_fffd_c001, 0xfff_ffff_ffff_c001],
        plain_modulus: 0,
    };
    assert_eq!(
        ckks.parms_id(4).to_string(),
        "e2a8dd3f1586dacfac02a4591f26b3ba536e0b1f60e28faef57f030eab08c5dd"
    );
}

#[test]
fn primes_are_where_seal_finds_them() {
    // SEAL's Create({60, 40, 40, 60}) at n = 8192: two primes of each size, ascending along the chain.
    let two = |bits: u32| primes::below(1 << bits, 8192).take(2).collect::<Vec<u64>>();
    assert_eq!(two(60), [0xfff_ffff_ffff_c001, 0xfff_ffff_fffe_8001]);
    assert_eq!(two(40), [0xff_fffd_c001, 0xff_fff4_c001]);
    for (degree, t) in [(1024, 1_038_337), (2048, 1_032_193), (8192, 1_032_193), (16384, 786_433)] {
        assert_eq!(primes::below(1 << 20, degree).next(), Some(t), "Batching({degree}, 20)");
    }
}

#[test]
fn transforms_take_the_same_root_and_order() {
    let root = |q: u64, degree: usize| {
        let ring = sotto_ring::Ring::new(degree, &[q]).unwrap();
        let mut x = sotto_ring::Poly::<sotto_ring::Coeff>::zero(&ring, 0..1);
        x.limb_mut(0)[1] = 1;
        // X transforms to ψ^(2·brv(i) + 1); the first is ψ itself.
        x.into_eval().limb(0)[0]
    };
    assert_eq!(root(PRIMES_4096[0], 4096), 24_250_113);
    assert_eq!(root(PRIMES_4096[1], 4096), 29_008_497);
    assert_eq!(root(PRIMES_4096[2], 4096), 8_625_844);
    assert_eq!(root(1_032_193, 4096), 194);
    let ring = sotto_ring::Ring::new(8, &[17]).unwrap();
    let poly = sotto_ring::Poly::from_signed(&ring, 0..1, &[1, 2, 3, 4, 5, 6, 7, 8]).into_eval();
    assert_eq!(poly.limb(0), [5, 0, 13, 8, 9, 11, 5, 8]);
}

#[test]
fn seeds_make_seals_streams() {
    let words = |generator, count| {
        let mut stream = Stream::new(generator, seed());
        (0..count).map(|_| stream.word()).collect::<Vec<u64>>()
    };
    let blake = words(Generator::Blake2xb, 513);
    assert_eq!(
        blake[..4],
        [0xd422_ea49_6071_8439, 0x4c4c_75b2_50de_90f5, 0xce17_e296_b57a_5900, 0x1328_0b77_379b_3934]
    );
    assert_eq!(blake[512], 0x9647_ee88_4a03_3a46, "the second block");
    assert_eq!(
        words(Generator::Shake256, 4),
        [0xc4ba_afbd_4eaf_6924, 0x1fc2_49f0_60cc_053b, 0xe559_0428_f016_f3ea, 0x8b57_0a91_4525_c28f]
    );
}

#[test]
fn seeds_make_seals_polynomials() {
    let moduli = PRIMES_4096.map(|q| Modulus::new(q).unwrap());
    let words = uniform_words(&mut Stream::new(Generator::Blake2xb, seed()), &moduli, 4096);
    assert_eq!(words[..4], [16_252_187_814, 67_322_759_493, 18_648_660_463, 122_640_487]);
    assert_eq!(words[4096..4098], [7_511_210_848, 30_900_637_931]);
    assert_eq!(words[3 * 4096 - 1], 87_905_917_775);
}

#[test]
fn words_beyond_the_limit_are_drawn_after_the_bulk() {
    // Fifteen multiples of this modulus fit into 64 bits, so that about one word in sixteen is drawn again.
    let modulus = Modulus::new((1 << 60) + 33).unwrap();
    let limit = u64::MAX - u64::MAX % modulus.value() - 1;
    let mut raw = Stream::new(Generator::Shake256, seed());
    let bulk: Vec<u64> = (0..256).map(|_| raw.word()).collect();
    assert!(bulk.iter().any(|word| *word >= limit), "some are drawn again");
    let mut expected = Vec::new();
    for mut word in bulk {
        while word >= limit {
            word = raw.word();
        }
        expected.push(word % modulus.value());
    }
    assert_eq!(uniform_words(&mut Stream::new(Generator::Shake256, seed()), &[modulus], 256), expected);
}

#[test]
fn parameters_have_seals_bytes() {
    let bytes = bfv_4096().write(Writing::default());
    assert_eq!(bytes.len(), 129);
    assert_eq!(hex::encode(&bytes[..16]), "5ea11003060000008100000000000000");
    assert_eq!(hex::encode(&bytes[16..33]), "0100100000000000000300000000000000");
    assert_eq!(hex::encode(&bytes[33..57]), "5ea1100306000000180000000000000001e0feff0f000000");
    assert_eq!(SealParameters::read(&bytes).unwrap(), bfv_4096());
    // Written by SEAL 4.3 in the TenSEAL wheel, with Zstandard.
    let zstandard = include_bytes!("../../../../conformance/vectors/seal/bfv4096.parameters");
    assert_eq!(SealParameters::read(zstandard).unwrap(), bfv_4096());
}

#[test]
fn objects_have_seals_sizes() {
    // A smaller t, so that the noise bound allows a fresh ciphertext at one prime; sizes do not depend on t.
    let parameters = SealParameters { plain_modulus: 65537, ..bfv_4096() };
    let chain = Chain::<Bfv>::from_seal(&parameters, None).unwrap();
    let params = chain.params();
    let mut rng = sotto_ring::secure_rng().unwrap();
    let key = SecretKey::derive(&DeviceSecret::generate(&mut rng), params);
    let writing = Writing::default();
    let secret = write_unprotected_secret_key(key.unprotected_residues(), &chain).unwrap();
    assert_eq!(secret.len(), 98_392);
    assert_eq!(write_public_key(&key.public_key(&mut rng), &chain, writing).unwrap().len(), 196_721 - 8);
    // Ours are of version 3.6, without a correction factor: eight bytes less for each ciphertext.
    let relinearisation = key.relinearisation_key(&mut rng).unwrap();
    let bytes = write_relinearisation_key(&relinearisation, &chain, writing).unwrap();
    assert_eq!(bytes.len(), 393_506 - 2 * 8);
    let plain = Bfv::encode_scalar(params, 5, params.top_level()).unwrap();
    let fresh = key.encrypt(&plain, &mut rng).unwrap().expand();
    assert_eq!(write_ciphertext(&fresh, &chain, writing).unwrap().len(), 131_185 - 8);
    let lower = Evaluator::new(params).drop_modulus(&fresh).unwrap();
    assert_eq!(write_ciphertext(&lower, &chain, writing).unwrap().len(), 65_649 - 8);
}
