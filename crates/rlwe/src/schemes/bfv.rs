//! BFV (Fan and Vercauteren, ePrint 2012/144; Brakerski, ePrint 2012/078), message in the high bits.

use std::sync::Arc;

use sotto_ring::{
    Coeff, Conversion, Division, Eval, Factor, Kernels, Modulus, Poly, Ring, Rounding, Scratch, Wiped, primes,
};

use super::integer::{IntegerEncoder, check_plain_modulus, integer_encoding};
use crate::error::{EvalError, ParameterError};
use crate::parameters::{ParameterSpec, Params, SchemeId};
use crate::plaintext::Plaintext;
use crate::scheme::{Scheme, pointwise_tensor};

/// The scheme BFV: integers modulo t.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bfv {}

/// Tables of BFV.
#[derive(Debug)]
pub struct Tables {
    encoder: IntegerEncoder,
    levels: Vec<LevelTables>,
    /// t^-1 modulo the prime of each limb.
    plain_inverses: Vec<Factor>,
    /// The limbs of the auxiliary primes.
    auxiliary: core::ops::Range<usize>,
}

#[derive(Debug)]
struct LevelTables {
    /// Q_l mod t.
    modulus_residue: u64,
    /// From Q_l to t, and −Q_l^-1 mod t.
    to_plain: Conversion,
    recover: Factor,
    to_auxiliary: Conversion,
    from_auxiliary: Conversion,
    /// Divides the auxiliary limbs by Q_l.
    division: Division,
}

/// The most auxiliary primes: a conversion takes one more.
const MOST_AUXILIARY: f64 = (sotto_ring::MOST_SOURCES - 1) as f64;
/// The largest log2 of the auxiliary modulus.
const LARGEST_AUXILIARY: f64 = MOST_AUXILIARY * 59.9;

impl Bfv {
    /// log2 of 4·n·t·Q.
    fn auxiliary_bits(spec: &ParameterSpec) -> f64 {
        spec.data_bits() + (spec.plain as f64).log2() + (spec.degree as f64).log2() + 2.0
    }
}

impl Scheme for Bfv {
    const ID: SchemeId = SchemeId::Bfv;
    type Value = i64;
    type Scaling = ();
    type Tables = Tables;
    type Noise = Self;

    fn check(spec: &ParameterSpec) -> Result<(), ParameterError> {
        check_plain_modulus(spec)?;
        if Self::auxiliary_bits(spec) > LARGEST_AUXILIARY {
            return Err(ParameterError::Chain(
                "the data modulus is too large for a BFV product: at most about 1770 bits",
            ));
        }
        Ok(())
    }

    /// Enough primes that the product exceeds n·t·Q, twice the largest coefficient of a scaled product: of 44 bits, or of 60
    /// where a conversion does not take so many. A product is the same integer with either.
    fn auxiliary_primes(spec: &ParameterSpec, used: &[u64]) -> Vec<u64> {
        let needed = Self::auxiliary_bits(spec);
        let ceiling = if needed > MOST_AUXILIARY * 43.9 { 1 << 60 } else { 1 << 44 };
        let mut bits = 0.0;
        let enough = |p: &u64| {
            let more = bits < needed;
            bits += (*p as f64).log2();
            more
        };
        primes::below(ceiling, spec.degree).filter(|p| !used.contains(p)).take_while(enough).collect()
    }

    fn tables(spec: &ParameterSpec, ring: &Arc<Ring>) -> Result<Tables, ParameterError> {
        let encoder = IntegerEncoder::new(spec)?;
        let special = spec.special.len();
        let auxiliary = special + spec.data.len()..ring.limb_count();
        let level =
            |level| LevelTables::new(ring, special..special + level + 1, auxiliary.clone(), &encoder.modulus);
        let levels = (0..spec.data.len()).map(level).collect::<Option<_>>();
        let shares =
            ParameterError::PlainModulus { value: spec.plain, reason: "shares a factor with a prime" };
        let levels = levels.ok_or(shares.clone())?;
        let inverse = |q: &Modulus| q.invert_vartime(spec.plain).map(|inverse| q.factor(inverse));
        let plain_inverses = ring.moduli(ring.all_limbs()).iter().map(inverse).collect::<Option<_>>();
        Ok(Tables { encoder, levels, plain_inverses: plain_inverses.ok_or(shares)?, auxiliary })
    }

    fn rounding(_spec: &ParameterSpec) -> Result<Rounding, ParameterError> {
        Ok(Rounding::Nearest)
    }

    fn error_factor(_params: &Params<Self>) -> u64 {
        1
    }

    integer_encoding!();

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

    /// t·round(Q·m/t) = Q·m + h − ((Q·m + h) mod t) with h = floor(t/2), which modulo every q_j is h − that rest.
    fn message(
        params: &Params<Self>,
        plaintext: &Plaintext<Self>,
        level: usize,
        (): (),
    ) -> (Wiped<i64>, u64) {
        let encoder = &params.tables().encoder;
        let t = &encoder.modulus;
        let mut residues = encoder.residues(plaintext.coefficients());
        (rests(t, params.tables().levels[level].modulus_residue, &mut residues), t.value())
    }

    fn message_divisor(params: &Params<Self>) -> u64 {
        params.plain_modulus()
    }

    fn divisor_inverse(params: &Params<Self>, limb: usize) -> Factor {
        params.tables().plain_inverses[limb]
    }

    /// round(t·phase/Q) mod t: with r the rest of t·phase modulo Q, centred, this is (t·phase − r)/Q ≡ −r·Q^-1 (mod t), and r
    /// modulo t is a base conversion (as in the division of ePrint 2018/117, section 2.3).
    fn recover(params: &Params<Self>, phase: Poly<Eval>, level: usize, (): ()) -> Plaintext<Self> {
        let mut phase = zeroize::Zeroizing::new(phase.into_coeff());
        phase.scale_by(|q| q.reduce(params.plain_modulus()));
        let (t, tables) = (&params.tables().encoder.modulus, &params.tables().levels[level]);
        let kernels = params.ring().kernels();
        let mut residues = Wiped::zeros(params.degree());
        let limbs = params.limbs(level).map(|i| phase.limb(i));
        let quotients = tables.to_plain.prepare(kernels, limbs, &mut Scratch::new());
        tables.to_plain.write(kernels, &quotients, 0, &mut residues);
        (kernels.scale)(t, &mut residues, tables.recover);
        let coefficients = params.tables().encoder.centred(&residues).into_inner();
        Plaintext::recovered(params, coefficients, level, ())
    }

    /// The tensor product over Q_l and the auxiliary primes, times t, divided by Q_l (ePrint 2018/117, section 2.4, with
    /// the remainder converted instead of the quotient).
    fn tensor(
        params: &Params<Self>,
        level: usize,
        a: &[Poly<Eval>],
        b: &[Poly<Eval>],
        scratch: &mut Scratch,
    ) -> [Poly<Eval>; 3] {
        let extended = |c: &[Poly<Eval>], scratch: &mut Scratch| {
            [extend(params, level, &c[0], scratch), extend(params, level, &c[1], scratch)]
        };
        let left = extended(a, scratch);
        let tensor = if core::ptr::eq(a, b) {
            pointwise_tensor(&left, &left, scratch)
        } else {
            let right = extended(b, scratch);
            let tensor = pointwise_tensor(&left, &right, scratch);
            right.into_iter().for_each(|c| scratch.give(c));
            tensor
        };
        left.into_iter().for_each(|c| scratch.give(c));
        tensor.map(|c| scale_down(params, level, c, scratch))
    }
}

/// h − ((Q·m + h) mod t) of the residues m modulo t.
pub(crate) fn rests(t: &Modulus, modulus_residue: u64, residues: &mut [u64]) -> Wiped<i64> {
    (Kernels::best().scale)(t, residues, t.factor(modulus_residue));
    let half = t.value() / 2;
    let mut rests = Wiped::zeros(residues.len());
    for (rest, x) in rests.iter_mut().zip(residues.iter()) {
        *rest = half as i64 - t.add(*x, half) as i64;
    }
    rests
}

/// An operand over Q_l and the auxiliary primes. One polynomial over all of the ring from Q_l on; limbs between Q_l and the
/// auxiliary primes are zero.
fn extend(params: &Params<Bfv>, level: usize, c: &Poly<Eval>, scratch: &mut Scratch) -> Poly<Eval> {
    let tables = &params.tables().levels[level];
    let (limbs, auxiliary) = (params.limbs(level), params.tables().auxiliary.clone());
    let ring = params.ring();
    let kernels = ring.kernels();
    let coefficients = scratch.copy(c).into_coeff();
    let quotients =
        tables.to_auxiliary.prepare(kernels, limbs.clone().map(|i| coefficients.limb(i)), scratch);
    scratch.give(coefficients);
    let mut out = scratch.poly::<Eval>(ring, limbs.start..auxiliary.end);
    for i in limbs.clone() {
        out.limb_mut(i).copy_from_slice(c.limb(i));
    }
    (limbs.end..auxiliary.start).for_each(|i| out.limb_mut(i).fill(0));
    for (j, i) in auxiliary.enumerate() {
        tables.to_auxiliary.write(kernels, &quotients, j, out.limb_mut(i));
        (kernels.ntt_forward)(ring.table(i), out.limb_mut(i));
    }
    quotients.give(scratch);
    out
}

/// round(t·c/Q_l), back over Q_l.
fn scale_down(params: &Params<Bfv>, level: usize, mut c: Poly<Eval>, scratch: &mut Scratch) -> Poly<Eval> {
    let tables = &params.tables().levels[level];
    let kernels = params.ring().kernels();
    c.scale_by(|q| q.reduce(params.plain_modulus()));
    let c = c.into_coeff();
    let quotient: Poly<Coeff> = tables.division.apply_with(&c, scratch);
    scratch.give(c);
    let auxiliary = params.tables().auxiliary.clone();
    let quotients = tables.from_auxiliary.prepare(kernels, auxiliary.map(|i| quotient.limb(i)), scratch);
    scratch.give(quotient);
    let mut out = scratch.poly::<Coeff>(params.ring(), params.limbs(level));
    for (j, i) in params.limbs(level).enumerate() {
        tables.from_auxiliary.write(kernels, &quotients, j, out.limb_mut(i));
    }
    quotients.give(scratch);
    out.into_eval()
}

impl LevelTables {
    fn new(
        ring: &Ring,
        limbs: core::ops::Range<usize>,
        auxiliary: core::ops::Range<usize>,
        t: &Modulus,
    ) -> Option<Self> {
        let (data, extra) = (ring.moduli(limbs.clone()), ring.moduli(auxiliary.clone()));
        let modulus_residue = ring.product_modulo(limbs.clone(), t);
        let recover = t.factor(t.negate(t.invert_vartime(modulus_residue)?));
        Some(Self {
            modulus_residue,
            to_plain: Conversion::new(&data, &[*t]),
            recover,
            to_auxiliary: Conversion::new(&data, &extra),
            from_auxiliary: Conversion::new(&extra, &data),
            division: Division::new(ring, limbs, auxiliary, Rounding::Nearest)?,
        })
    }
}
