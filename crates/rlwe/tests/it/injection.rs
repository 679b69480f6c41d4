//! Message and error written limb by limb equal the sum of both, for plain moduli of every size.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_ring::{Poly, SmallPoly};
use sotto_rlwe::{
    Bfv, Bgv, Ckks, DefaultChain, Injection, LeanInjection, Params, Plaintext, Scheme, SlotValues,
};

const DEGREE: usize = 4096;

fn params<S: Scheme>(t: u64, degree: usize) -> Params<S> {
    Params::new(DefaultChain::spec(S::ID, degree, t).unwrap()).unwrap()
}

fn sums<S: Scheme>(params: &Params<S>, plaintext: &Plaintext<S>, scaling: S::Scaling, error: &SmallPoly) {
    let (ring, top) = (params.ring(), params.top_level());
    let limbs = params.limbs(top);
    let mut expected = Injection::of_message(params, plaintext, top, scaling).polynomial(params, top);
    let mut error_poly = Poly::from_signed(ring, limbs.clone(), error.coefficients());
    error_poly.scale_signed(S::error_factor(params) as i64);
    let both = Injection::of_encryption(params, plaintext, top, scaling, error);
    let alone = Injection::of_error(params, error);
    let mut out = vec![7; params.degree()];
    for limb in limbs.clone() {
        alone.write_limb(params, limb, &mut out);
        assert_eq!(out, error_poly.limb(limb), "{} the error alone", S::ID);
    }
    expected.add_assign(&error_poly);
    for limb in limbs {
        both.write_limb(params, limb, &mut out);
        assert_eq!(out, expected.limb(limb), "{} t = {}", S::ID, params.plain_modulus());
    }
}

fn errors() -> [SmallPoly; 3] {
    let drawn = SmallPoly::centred_binomial(DEGREE, &mut ChaCha20Rng::from_seed([1; 32]));
    let ends = |i: usize| if i.is_multiple_of(2) { 21 } else { -21 };
    // An error beyond the limit of honest ones takes the slow path.
    let large = |i: usize| if i == 5 { 1 << 40 } else { -3 };
    [
        drawn,
        SmallPoly::from_coefficients((0..DEGREE).map(ends).collect()),
        SmallPoly::from_coefficients((0..DEGREE).map(large).collect()),
    ]
}

#[test]
fn integers() {
    // Plain moduli for which message and error fit one word, and larger ones for which they do not (2^57 … 2^60).
    let small = [2, 3, 257, 40_961, (1 << 35) - 31];
    let large = [(1 << 56) - 5, (1 << 57) - 13, (1 << 58) + 1, (1u64 << 60) - 93];
    for t in small.into_iter().chain(large) {
        let ends = [t / 2, 0, 1, t / 2 - 1, (t - 1) / 2];
        let coefficients = (0..DEGREE).map(|i| {
            let end = ends[i % 5] as i64;
            if i % 3 == 0 { -end } else { end }
        });
        let values: Vec<i64> = coefficients.collect();
        for error in errors() {
            // The smallest degree whose modulus holds t.
            if t < 1 << 50 {
                let p = params::<Bfv>(t, DEGREE);
                sums(&p, &Bfv::encode_coefficients(&p, &values, 1).unwrap(), (), &error);
                let p = params::<Bgv>(t, DEGREE);
                sums(&p, &Bgv::encode_coefficients(&p, &values, 1).unwrap(), 1, &error);
                sums(&p, &Bgv::encode_coefficients(&p, &values[..9], 1).unwrap(), t - 1, &error);
            }
        }
        // The smallest degree whose modulus holds t.
        if t >= 1 << 50 {
            let twice = |small: &SmallPoly| {
                let [mut all, once] = [small.coefficients().to_vec(), small.coefficients().to_vec()];
                all.extend(once);
                SmallPoly::from_coefficients(all)
            };
            let error = twice(&errors()[1]);
            let p = params::<Bfv>(t, 2 * DEGREE);
            sums(&p, &Bfv::encode_coefficients(&p, &values, 3).unwrap(), (), &error);
            let p = params::<Bgv>(t, 2 * DEGREE);
            sums(&p, &Bgv::encode_coefficients(&p, &values, 3).unwrap(), 1, &error);
        }
    }
}

#[test]
fn reals() {
    let p = params::<Ckks>(0, DEGREE);
    let values: Vec<f64> = (0..DEGREE / 2).map(|i| ((i * 37 % 101) as f64 - 50.0) / 50.0).collect();
    let plaintext = Ckks::encode_slots(&p, &values, 1).unwrap();
    for error in errors() {
        sums(&p, &plaintext, sotto_rlwe::ScalePower(1), &error);
    }
}

#[test]
fn without_parameters_it_is_the_same() {
    let integers: Vec<i64> = (0..DEGREE as i64).map(|i| i * i % 40_961 - 20_000).collect();
    let reals: Vec<f64> = (0..DEGREE / 2).map(|i| (i as f64).sin()).collect();
    fn same<S: Scheme>(t: u64, scaling: S::Scaling, values: &[S::Value], slots: SlotValues<'_>) {
        let p = params::<S>(t, DEGREE);
        let plaintext = S::encode_slots(&p, values, 1).unwrap();
        for error in errors() {
            let expected = Injection::of_encryption(&p, &plaintext, 1, scaling, &error);
            let mut lean = LeanInjection::new(p.spec(), slots, 1.0).unwrap();
            lean.add_error(&error);
            let [mut a, mut b] = [(); 2].map(|()| vec![0; DEGREE]);
            for limb in p.limbs(1) {
                expected.write_limb(&p, limb, &mut a);
                lean.write_limb(p.modulus(limb), &mut b).unwrap();
                assert_eq!(a, b, "{}", S::ID);
            }
        }
    }
    same::<Bfv>(40_961, (), &integers, SlotValues::Integers(&integers));
    same::<Bgv>(40_961, 1, &integers, SlotValues::Integers(&integers));
    same::<Ckks>(0, sotto_rlwe::ScalePower(1), &reals, SlotValues::Reals(&reals));
}
