//! Signed and fractional numbers through the partially homomorphic schemes, compared with exact rationals.

use std::sync::{Arc, LazyLock};

use chacha20::ChaCha20Rng;
use num_rational::BigRational;
use proptest::prelude::*;
use rand_core::SeedableRng;
use sotto_decrypt::partial::{elgamal as open_elgamal, paillier::Decryptor};
use sotto_kernels::Target;
use sotto_keys::partial::{elgamal, paillier};
use sotto_partial::PartialError;
use sotto_partial::elgamal::{Group, GroupName};
use sotto_partial::encoding::{Complement, Format, Fraction, Ratio, Scaled, wrap};
use sotto_partial::paillier::PublicKey;

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([2; 32])
}

static PAILLIER: LazyLock<(PublicKey, Decryptor)> = LazyLock::new(|| {
    let secret =
        paillier::SecretKey::insecure_generate(512, paillier::Masking::HalfLength, &mut rng()).unwrap();
    (secret.insecure_public_key(Target::best()).unwrap(), Decryptor::new(&secret).unwrap())
});

static ELGAMAL: LazyLock<(elgamal::SecretKey, sotto_partial::elgamal::PublicKey)> = LazyLock::new(|| {
    let secret =
        elgamal::SecretKey::generate(&Arc::new(Group::new(GroupName::Ffdhe2048).unwrap()), &mut rng());
    let public = secret.public_key();
    (secret, public)
});

fn rational(numerator: i128, denominator: i128) -> BigRational {
    BigRational::new(numerator.into(), denominator.into())
}

/// Rounds an exact number to the format's nearest k, halves away from zero.
fn rounded(format: &Format, exact: &BigRational) -> Result<i64, PartialError> {
    let scaled = exact * rational(i128::from(format.denominator()), 1);
    let zero = rational(0, 1);
    let k =
        if scaled < zero { -(-&scaled + rational(1, 2)).floor() } else { (&scaled + rational(1, 2)).floor() };
    if k == zero && scaled != zero {
        return Err(PartialError::Underflow);
    }
    let k = i128::try_from(k.to_integer()).unwrap_or(i128::MAX);
    let half = 1i128 << (format.bits() - 1);
    if (-half..half).contains(&k) {
        Ok(k as i64)
    } else {
        Err(PartialError::Overflow { bits: format.bits() })
    }
}

fn scaled(k: i64, denominator: u64) -> Scaled {
    let key = &PAILLIER.0;
    Scaled { numerator: key.encrypt(&key.signed(i128::from(k)), &mut rng()).unwrap(), denominator }
}

fn open(x: &Scaled) -> Fraction {
    let (key, decryptor) = &*PAILLIER;
    x.fraction(decryptor.decrypt(key, &x.numerator).unwrap().to_signed(key).unwrap())
}

fn ratio(code: &Complement, numerator: i64, denominator: i64) -> Ratio {
    let key = &ELGAMAL.1;
    let encrypt = |v| key.encrypt(&code.encode(v).unwrap(), &mut rng()).unwrap();
    Ratio { numerator: encrypt(numerator), denominator: encrypt(denominator) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn paillier_sums_of_fractions(a in any::<i64>(), b in any::<i64>(), d in 1u64..100_000, e in 1u64..100_000, k in any::<i32>(), bits in 8u32..=64, resolution in 1u64..10_000) {
        let (x, y) = (scaled(a, d), scaled(b, e));
        let key = &PAILLIER.0;
        let (exact_x, exact_y) = (rational(i128::from(a), i128::from(d)), rational(i128::from(b), i128::from(e)));
        let format = Format::new(bits, resolution).unwrap();
        let half = Fraction { numerator: i128::from(k), denominator: 7 };
        for (encrypted, exact) in [
            (x.add(&y, key).unwrap(), &exact_x + &exact_y),
            (x.subtract(&y, key).unwrap(), &exact_x - &exact_y),
            (x.multiply_plain(&half, key).unwrap(), &exact_x * rational(i128::from(k), 7)),
        ] {
            let found = open(&encrypted);
            prop_assert_eq!(&rational(found.numerator, found.denominator), &exact);
            prop_assert_eq!(format.round(&found), rounded(&format, &exact));
        }
    }

    #[test]
    fn elgamal_products_wrap_and_overflow_as_registers_do(a in any::<i64>(), b in any::<i64>(), c in any::<i64>(), bits in 2u32..=64) {
        let [a, b, c] = [a, b, c].map(|v| wrap(i128::from(v), bits) as i64);
        let (secret, key) = &*ELGAMAL;
        let code = Complement::new(bits, 3, 2046).unwrap();
        let mut rng = rng();
        let [x, y, z] = [a, b, c].map(|v| key.encrypt(&code.encode(v).unwrap(), &mut rng).unwrap());
        let product = key.multiply(&key.multiply(&x, &y).unwrap(), &z).unwrap();
        let residue = open_elgamal::decrypt(secret, key, &product).unwrap();
        let exact = rational(i128::from(a), 1) * rational(i128::from(b), 1) * rational(i128::from(c), 1);
        // The product of three numbers of 64 bits exceeds 128 bits: only its low bits are computed.
        let low = (i128::from(a) * i128::from(b)).wrapping_mul(i128::from(c));
        prop_assert_eq!(i128::from(code.decode_wrapping(&residue)), wrap(low, bits));
        prop_assert_eq!(code.decode(&residue), match rounded(&Format::integers(bits).unwrap(), &exact) {
            Err(PartialError::Underflow) => unreachable!(),
            other => other,
        });
    }

    #[test]
    fn elgamal_quotients_of_fractions(a in -99i64..99, b in 1i64..99, c in -99i64..99, d in 1i64..99) {
        let (secret, key) = &*ELGAMAL;
        let code = Complement::new(16, 2, 2046).unwrap();
        let (x, y) = (ratio(&code, a, b), ratio(&code, c, d));
        let open = |r: &Ratio| {
            let part = |c| code.decode(&open_elgamal::decrypt(secret, key, c).unwrap()).unwrap();
            (i128::from(part(&r.numerator)), i128::from(part(&r.denominator)))
        };
        let (exact_x, exact_y) = (rational(a.into(), b.into()), rational(c.into(), d.into()));
        let (n, m) = open(&x.multiply(&y, key).unwrap());
        prop_assert_eq!(rational(n, m), &exact_x * &exact_y);
        let (n, m) = open(&x.divide(&y, key).unwrap());
        if c == 0 {
            prop_assert_eq!(m, 0);
            let fraction = Fraction { numerator: n, denominator: m };
            prop_assert!(Format::integers(16).unwrap().round(&fraction).is_err());
        } else {
            prop_assert_eq!(rational(n, m), exact_x / exact_y);
        }
    }

    #[test]
    fn rounding_is_that_of_exact_rationals(n in any::<i128>(), m in any::<i128>(), bits in 2u32..=64, resolution in 1u64..) {
        prop_assume!(m != 0 && n != i128::MIN && m != i128::MIN);
        let format = Format::new(bits, resolution).unwrap();
        for shift in [0, 60, 100] {
            let fraction = Fraction { numerator: n >> shift, denominator: m >> (shift / 2) | 1 };
            let exact = rational(fraction.numerator, fraction.denominator);
            prop_assert_eq!(format.round(&fraction), rounded(&format, &exact));
        }
    }
}

#[test]
fn zero_travels_as_a_power_of_two() {
    let (secret, key) = &*ELGAMAL;
    let code = Complement::new(32, 2, 2046).unwrap();
    assert_eq!(sotto_partial::number::words(&code.encode(0).unwrap())[..], [0, 1]);
    for other in [0, 1, -1, i64::from(i32::MIN), i64::from(i32::MAX)] {
        let encrypt = |v| key.encrypt(&code.encode(v).unwrap(), &mut rng()).unwrap();
        let product = key.multiply(&encrypt(0), &encrypt(other)).unwrap();
        assert_eq!(code.decode(&open_elgamal::decrypt(secret, key, &product).unwrap()), Ok(0));
    }
    assert_eq!(code.encode(1 << 31).err(), Some(PartialError::Overflow { bits: 32 }));
    // Six factors of 64 bits do not fit 2,046 bits; five do.
    assert!(Complement::new(64, 6, 2046).is_err() && Complement::new(64, 5, 2046).is_ok());
}

#[test]
fn the_width_of_a_product_does_not_wrap() {
    // 64·(2^29)² is 2^64, and (2^16)² is 2^32: zero in 64 and in 32 bits.
    for (bits, factors) in
        [(64, 1 << 29), (64, u32::MAX), (2, u32::MAX), (16, 1 << 16), (64, 1 << 26), (2, 1 << 15)]
    {
        assert!(Complement::new(bits, factors, 2046).is_err(), "{bits} bits, {factors} factors");
    }
    assert!(Complement::new(64, 0, 2046).is_err());
    let widest = Complement::new(2, (1 << 15) - 1, u32::MAX).unwrap();
    assert_eq!(widest.width(), (1 << 16) - 2);
}

#[test]
fn formats_say_when_a_number_does_not_fit() {
    let hundredths = Format::new(16, 100).unwrap();
    assert_eq!(hundredths.encode(1.234), Ok(Fraction { numerator: 123, denominator: 100 }));
    assert_eq!(hundredths.encode(-327.68).map(|f| f.numerator), Ok(-32768));
    for wrong in [327.68, f64::NAN, f64::INFINITY, -1e300] {
        assert_eq!(hundredths.encode(wrong), Err(PartialError::Overflow { bits: 16 }));
    }
    assert_eq!(hundredths.encode(0.001), Err(PartialError::Underflow));
    assert_eq!(hundredths.encode(0.0).map(|f| f.numerator), Ok(0));
    assert!(Format::new(65, 1).is_err() && Format::new(1, 1).is_err() && Format::new(8, 0).is_err());
}
