//! Chains with other digits and special primes, and the longest default chains, from encryption to decryption;
//! encodings under encryption.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_conformance::{Fixture, Testable};
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::Complex;
use sotto_rlwe::{
    Bfv, Bgv, ChainRequest, Ckks, Digits, Evaluator, Params, Plaintext, Scheme, SecurityLevel,
    SecurityProfile, SecurityTarget,
};

fn chains<S: Testable>() {
    let older = SecurityTarget { profile: SecurityProfile::HeStandard2018, level: SecurityLevel::Bits128 };
    let usual = ChainRequest::new(S::ID, 8192, S::plain_modulus(8192));
    let larger = ChainRequest { degree: 16384, ..usual };
    let count = |digits| Some(Digits::Count(digits));
    for request in [
        usual,
        ChainRequest { security: older, ..usual },
        ChainRequest { digits: count(1), levels: Some(1), ..usual },
        ChainRequest { digits: count(2), levels: Some(1), ..usual },
        ChainRequest { digits: count(2), special_primes: Some(2), ..larger },
        ChainRequest { digits: count(3), ..larger },
        ChainRequest { digits: Some(Digits::Primes(1)), special_primes: Some(2), ..larger },
        ChainRequest { digits: Some(Digits::Primes(2)), special_primes: Some(3), ..larger },
    ] {
        let spec = request.build().unwrap();
        let what = format!("{}: {request:?}", S::ID);
        let mut f = Fixture::<S>::new(Params::with_security(spec, request.security).unwrap(), 7);
        let (a, b) = (f.values(), f.values());
        let (x, y) = (f.encrypt(&a, false), f.encrypt(&b, true));
        let product = f.evaluator.multiply(&x, &y).unwrap();
        let product = f.evaluator.relinearise(&product, &f.keys).unwrap();
        let product = S::after_product(&f.evaluator, product);
        let expected: Vec<_> = a.iter().zip(&b).map(|(a, b)| S::times(&f.params, *a, *b)).collect();
        f.check(&what, &product, &expected);
        let rotated = f.evaluator.rotate(&x, 1, &f.keys).unwrap();
        let row = f.params.degree() / 2;
        let moved: Vec<_> = (0..a.len()).map(|i| a[i / row * row + (i + 1) % row]).collect();
        f.check(&what, &rotated, &moved);
    }
}

#[test]
fn chains_of_bgv() {
    chains::<Bgv>();
}

#[test]
fn chains_of_bfv() {
    chains::<Bfv>();
}

#[test]
fn chains_of_ckks() {
    chains::<Ckks>();
}

/// With small data primes there are fewer auxiliary primes than data primes at the top level, and more at low levels.
/// A single prime has no room for a product.
#[test]
fn products_of_bfv_at_the_levels_of_small_primes() {
    let usual = ChainRequest::new(Bfv::ID, 16384, 65_537);
    let request = ChainRequest { first_bits: Some(60), other_bits: Some(26), levels: Some(7), ..usual };
    let params = Params::with_security(request.build().unwrap(), request.security).unwrap();
    let auxiliary = params.ring().limb_count() - params.limbs(params.top_level()).end;
    assert!((2..8).contains(&auxiliary), "{auxiliary} auxiliary primes");
    let mut f = Fixture::<Bfv>::new(params, 7);
    let (a, b) = (f.values(), f.values());
    let (mut x, mut y) = (f.encrypt(&a, false), f.encrypt(&b, true));
    for level in (1..=f.params.top_level()).rev() {
        assert_eq!(x.level(), level);
        for (other, values) in [(&y, &b), (&x, &a)] {
            let product = f.evaluator.multiply(&x, other).unwrap();
            let product = f.evaluator.relinearise(&product, &f.keys).unwrap();
            let expected: Vec<_> = a.iter().zip(values).map(|(a, b)| Bfv::times(&f.params, *a, *b)).collect();
            f.check(&format!("level {level}"), &product, &expected);
        }
        [x, y] = [&x, &y].map(|c| f.evaluator.drop_modulus(c).unwrap());
    }
}

/// One product at n = 65536. Makes the relinearisation key alone, which has 300 megabytes.
fn largest<S: Testable>() {
    let params = Params::<S>::default_chain(65536, S::plain_modulus(65536)).unwrap();
    let mut rng = ChaCha20Rng::from_seed([3; 32]);
    let secret = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
    let keys = secret.evaluation_keys(true, &[], &mut rng).unwrap();
    let evaluator = Evaluator::new(&params);
    let (rows, columns) = S::slot_shape(&params).unwrap();
    let mut values = || (0..rows * columns).map(|_| S::random(&params, &mut rng)).collect::<Vec<_>>();
    let (a, b) = (values(), values());
    let mut encrypt = |values: &[S::Value]| {
        let plaintext = S::encode_slots(&params, values, params.top_level()).unwrap();
        secret.encrypt(&plaintext, &mut rng).unwrap().expand()
    };
    let product = evaluator.multiply(&encrypt(&a), &encrypt(&b)).unwrap();
    let product = S::after_product(&evaluator, evaluator.relinearise(&product, &keys).unwrap());
    let (found, bound) = S::slots(&Decryptor::new(&secret), &product);
    for (i, slot) in found.iter().enumerate() {
        let expected = S::times(&params, a[i], b[i]);
        assert!(S::distance(*slot, expected) <= bound, "{}: slot {i} is {slot:?}, not {expected:?}", S::ID);
    }
}

#[test]
fn the_largest_default_chains() {
    largest::<Bgv>();
    largest::<Bfv>();
    largest::<Ckks>();
}

fn encrypt<S: Testable>(f: &mut Fixture<S>, plaintext: &Plaintext<S>) -> sotto_rlwe::Ciphertext<S> {
    f.secret.encrypt(plaintext, &mut f.rng).unwrap().expand()
}

fn decrypt<S: Testable>(f: &Fixture<S>, ciphertext: &sotto_rlwe::Ciphertext<S>) -> Plaintext<S> {
    Decryptor::new(&f.secret).decrypt(ciphertext).unwrap()
}

fn repeated_values_rotate_in_a_ring<S: Testable>() {
    let mut f = Fixture::<S>::default_chain(4096, 2);
    let top = f.params.top_level();
    for count in [1, 2, 8, 2048] {
        let values: Vec<_> = f.values()[..count].to_vec();
        let plaintext = f.params.encode_repeated(&values, top).unwrap();
        let x = encrypt(&mut f, &plaintext);
        for (step, by) in [(1, 1), (-1, count - 1), (2, 2)] {
            let rotated = f.evaluator.rotate(&x, step, &f.keys).unwrap();
            let bound = rotated.shape().slot_error(&f.params);
            let found = f.params.decode_repeated(&decrypt(&f, &rotated), count).unwrap();
            for (i, value) in found.iter().enumerate() {
                let off = S::distance(*value, values[(i + by) % count]);
                assert!(off <= bound, "{}: {count} values, step {step}: {off:e}, bound {bound:e}", S::ID);
            }
        }
    }
}

#[test]
fn repeated_values() {
    repeated_values_rotate_in_a_ring::<Bgv>();
    repeated_values_rotate_in_a_ring::<Bfv>();
    repeated_values_rotate_in_a_ring::<Ckks>();
}

/// (1 + 2X − X^(n−1)) · (3 + X) = 3 + 7X + 2X² − 3X^(n−1) − X^n, and X^n = −1.
fn coefficients_convolve<S: Testable>(plain_modulus: u64) {
    let spec = ChainRequest::new(S::ID, 8192, plain_modulus).build().unwrap();
    let mut f = Fixture::<S>::new(Params::new(spec).unwrap(), 4);
    let (n, top) = (f.params.degree(), f.params.top_level());
    let mut a = vec![S::Value::default(); n];
    (a[0], a[1], a[n - 1]) = (S::small(1), S::small(2), S::small(-1));
    let mut expected = vec![S::Value::default(); n];
    for (place, value) in [(0, 4), (1, 7), (2, 2), (n - 1, -3)] {
        expected[place] = S::small(value);
    }
    let plaintext = S::encode_coefficients(&f.params, &a, top).unwrap().declare_magnitude(4.0);
    let x = encrypt(&mut f, &plaintext);
    let plaintext = S::encode_coefficients(&f.params, &[S::small(3), S::small(1)], top).unwrap();
    let y = encrypt(&mut f, &plaintext.declare_magnitude(4.0));
    let product = f.evaluator.relinearise(&f.evaluator.multiply(&x, &y).unwrap(), &f.keys).unwrap();
    let product = S::after_product(&f.evaluator, product);
    let bound = product.shape().slot_error(&f.params);
    let found = S::decode_coefficients(&f.params, &decrypt(&f, &product));
    // A coefficient is a mean of slots, so the bound of a slot applies to it.
    for (i, (a, b)) in found.iter().zip(&expected).enumerate() {
        assert!(
            S::distance(*a, *b) <= bound,
            "{}, t = {plain_modulus}: place {i} is {a:?}, not {b:?}",
            S::ID
        );
    }
}

#[test]
fn coefficients() {
    for plain_modulus in [17, 1000, 65536, 65537] {
        coefficients_convolve::<Bgv>(plain_modulus);
        coefficients_convolve::<Bfv>(plain_modulus);
    }
    coefficients_convolve::<Ckks>(0);
}

#[test]
fn complex_values_multiply_and_conjugate() {
    let mut f = Fixture::<Ckks>::default_chain(8192, 6);
    let top = f.params.top_level();
    let pairs = |re: &[f64], im: &[f64]| -> Vec<Complex> {
        re.iter().zip(im).map(|(re, im)| Complex { re: *re, im: *im }).collect()
    };
    let (a, b) = (pairs(&f.values(), &f.values()), pairs(&f.values(), &f.values()));
    let plain = f.params.encode_complex(&a, top).unwrap().declare_magnitude(1.5);
    let x = encrypt(&mut f, &plain);
    let plain = f.params.encode_complex(&b, top).unwrap().declare_magnitude(1.5);
    let y = encrypt(&mut f, &plain);
    let product = f.evaluator.relinearise(&f.evaluator.multiply(&x, &y).unwrap(), &f.keys).unwrap();
    let product = f.evaluator.drop_modulus(&product).unwrap();
    let conjugate = f.evaluator.swap_rows(&product, &f.keys).unwrap();
    for (ciphertext, conjugated) in [(&product, false), (&conjugate, true)] {
        let bound = ciphertext.shape().slot_error(&f.params);
        let found = f.params.decode_complex(&decrypt(&f, ciphertext));
        for (i, value) in found.iter().enumerate() {
            let expected = a[i] * b[i];
            let expected = if conjugated { Complex { im: -expected.im, ..expected } } else { expected };
            let off = (*value - expected).absolute();
            assert!(off <= bound, "slot {i} is off by {off:e}, bound {bound:e}");
        }
    }
}
