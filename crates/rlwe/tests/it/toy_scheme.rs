//! A toy scheme: bits in the coefficients of a polynomial, in the low bit of the phase (BGV for t = 2).

use std::sync::Arc;

use sotto_ring::{Eval, Modulus, Poly, Ring, Rounding, Wiped};
use sotto_rlwe::{
    ChainRequest, EncodeError, EvalError, Evaluator, Figure, LevelRules, Log2, Noise, NoiseRules, Origin,
    ParameterError, ParameterSpec, Params, PlainSize, Plaintext, Scheme, SchemeId,
};

/// Bits: sums are exclusive or, products of constants are and.
#[derive(Clone, Copy, Debug)]
enum Bits {}

impl Scheme for Bits {
    // A scheme of its own takes the next number; this one borrows that of BGV, whose parameters it has.
    const ID: SchemeId = SchemeId::Bgv;
    type Value = i64;
    /// Every prime is 1 modulo 2, so that no division changes the message's factor.
    type Scaling = ();
    type Tables = ();
    type Noise = Self;

    fn check(spec: &ParameterSpec) -> Result<(), ParameterError> {
        if spec.plain == 2 { Ok(()) } else { Err(not_two(spec)) }
    }
    fn tables(_spec: &ParameterSpec, _ring: &Arc<Ring>) -> Result<(), ParameterError> {
        Ok(())
    }
    fn rounding(spec: &ParameterSpec) -> Result<Rounding, ParameterError> {
        Modulus::new(spec.plain).map(Rounding::CongruentMod).map_err(|_| not_two(spec))
    }
    fn error_factor(params: &Params<Self>) -> u64 {
        params.plain_modulus()
    }

    fn encode_coefficients(
        params: &Params<Self>,
        values: &[i64],
        level: usize,
    ) -> Result<Plaintext<Self>, EncodeError> {
        if values.len() > params.degree() {
            return Err(EncodeError::TooManyCoefficients { given: values.len(), degree: params.degree() });
        }
        let bits: Vec<i64> = values.iter().map(|value| value & 1).collect();
        Ok(Plaintext::from_coefficients(params, bits, level, Log2::ZERO))
    }
    fn decode_coefficients(params: &Params<Self>, plaintext: &Plaintext<Self>) -> Vec<i64> {
        let mut bits = plaintext.coefficients().to_vec();
        bits.resize(params.degree(), 0);
        bits
    }

    fn fresh_scaling() {}
    fn multiply_scaling(_params: &Params<Self>, (): (), (): ()) {}
    fn multiply_plain_scaling((): ()) {}
    fn drop_scaling(_params: &Params<Self>, _level: usize, (): ()) -> Result<(), EvalError> {
        Ok(())
    }
    fn scaling_is_valid(_params: &Params<Self>, (): ()) -> bool {
        true
    }
    fn scaling_number((): ()) -> u64 {
        1
    }
    fn scaling_from_number(_number: u64) {}

    fn message(_: &Params<Self>, plaintext: &Plaintext<Self>, _: usize, (): ()) -> (Wiped<i64>, u64) {
        (Wiped::copy(plaintext.coefficients()), 1)
    }
    /// The lowest prime alone determines the phase: `room` leaves it below half of that prime.
    fn recover(params: &Params<Self>, phase: &Poly<Eval>, level: usize, (): ()) -> Plaintext<Self> {
        let lowest = params.limbs(0).start;
        let (q, phase) = (params.modulus(lowest), phase.restricted(params.limbs(0)).into_coeff());
        let bits: Vec<i64> = phase.limb(lowest).iter().map(|x| q.centre(*x) & 1).collect();
        Plaintext::from_coefficients(params, bits, level, Log2::ZERO)
    }
}

fn not_two(spec: &ParameterSpec) -> ParameterError {
    ParameterError::PlainModulus { value: spec.plain, reason: "must be 2" }
}

/// `error` is the size of the whole phase, bits and twice the error.
impl NoiseRules<Self> for Bits {
    const WHOLE_PHASE: bool = true;

    fn fresh<F: Figure>(params: &Params<Self>, origin: Origin, _magnitude: f64) -> Noise<F> {
        let norms = F::norms(params.norms());
        let message = norms.any_message(2);
        Noise { message, error: message + norms.fresh_error(origin).scaled(Log2(1.0)) }
    }
    fn add<F: Figure>(_params: &Params<Self>, a: Noise<F>, b: Noise<F>) -> Noise<F> {
        Noise { message: a.message, error: a.error + b.error }
    }
    fn add_plain<F: Figure>(_params: &Params<Self>, a: Noise<F>, plain: PlainSize) -> Noise<F> {
        Noise { message: a.message, error: a.error + F::plain(plain) }
    }
    fn multiply_plain<F: Figure>(_params: &Params<Self>, a: Noise<F>, plain: PlainSize) -> Noise<F> {
        Noise { message: a.message, error: a.error * F::plain(plain) }
    }
    fn multiply<F: Figure>(_: &Params<Self>, _: usize, a: Noise<F>, b: Noise<F>, same: bool) -> Noise<F> {
        Noise { message: a.message, error: if same { a.error.square() } else { a.error * b.error } }
    }
    fn room(params: &Params<Self>, _level: usize, a: Noise) -> f64 {
        params.data_bits(0) - 1.0 - a.error.0
    }
}

/// Levels are managed by the default rules: nothing has to match, and no product is rescaled.
impl LevelRules for Bits {
    const RESCALES: bool = false;
}

#[test]
fn bits_are_added_and_multiplied() {
    let bits = ChainRequest {
        levels: Some(1),
        first_bits: Some(60),
        other_bits: Some(40),
        ..ChainRequest::new(Bits::ID, 8192, 2)
    };
    let spec = bits.build().unwrap();
    let params = Params::<Bits>::new(spec).unwrap();
    let owner = crate::owner::Owner::new(&params, 1);
    let (public, keys) = (owner.public_key(), owner.evaluation_keys(&[]));
    let mut rng = sotto_ring::secure_rng().unwrap();
    let mut encrypt = |bits: &[i64]| {
        let plaintext = Bits::encode_coefficients(&params, bits, params.top_level()).unwrap();
        public.encrypt(&plaintext, &mut rng).unwrap()
    };
    let (a, b, one) = (encrypt(&[1, 1, 0, 0]), encrypt(&[1, 0, 1]), encrypt(&[1]));
    let evaluator = Evaluator::new(&params);
    let decrypted = |answer| Bits::decode_coefficients(&params, &owner.decrypt(&answer));
    assert_eq!(decrypted(evaluator.add(&a, &b).unwrap())[..4], [0, 1, 1, 0]);
    // (1 + X)·1, relinearised, and on one prime less.
    let product = evaluator.multiply(&a, &one).unwrap();
    let product = evaluator.relinearise(&product, &keys).unwrap();
    let product = evaluator.drop_modulus(&product).unwrap();
    assert_eq!(decrypted(product)[..4], [1, 1, 0, 0]);
    // (1 + X)(1 + X²) = 1 + X + X² + X³.
    let product = evaluator.relinearise(&evaluator.multiply(&a, &b).unwrap(), &keys).unwrap();
    assert_eq!(decrypted(product)[..5], [1, 1, 1, 1, 0]);
    assert_eq!(Bits::slot_shape(&params), None);
}
