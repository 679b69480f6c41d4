//! BFV (Fan and Vercauteren, ePrint 2012/144; Brakerski, ePrint 2012/078), message in the high bits.

use std::sync::Arc;

use sotto_ring::{Coeff, Conversion, Division, Eval, Modulus, Poly, Ring, Rounding};

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
    /// The limbs of the auxiliary primes.
    auxiliary: core::ops::Range<usize>,
}

#[derive(Debug)]
struct LevelTables {
    /// Q_l mod t.
    modulus_residue: u64,
    /// For each limb (Q_l/q_i)^-1 mod q_i.
    recover: Vec<sotto_ring::Factor>,
    to_auxiliary: Conversion,
    from_auxiliary: Conversion,
    /// Divides the auxiliary limbs by Q_l.
    division: Division,
}

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
        if Self::auxiliary_bits(spec) > (sotto_ring::MOST_SOURCES - 1) as f64 * 43.9 {
            return Err(ParameterError::Chain(
                "the data modulus is too large for a BFV product: at most about 1300 bits",
            ));
        }
        Ok(())
    }

    /// Enough 44-bit primes that the product exceeds n·t·Q, twice the largest coefficient of a scaled product.
    fn auxiliary_primes(spec: &ParameterSpec, used: &[u64]) -> Vec<u64> {
        let needed = Self::auxiliary_bits(spec);
        let mut bits = 0.0;
        let enough = |p: &u64| {
            let more = bits < needed;
            bits += (*p as f64).log2();
            more
        };
        sotto_ring::primes::below(1 << 44, spec.degree)
            .filter(|p| !used.contains(p))
            .take_while(enough)
            .collect()
    }

    fn tables(spec: &ParameterSpec, ring: &Arc<Ring>) -> Result<Tables, ParameterError> {
        let encoder = IntegerEncoder::new(spec)?;
        let special = spec.special.len();
        let auxiliary = special + spec.data.len()..ring.limb_count();
        let level =
            |level| LevelTables::new(ring, special..special + level + 1, auxiliary.clone(), &encoder.modulus);
        let levels = (0..spec.data.len()).map(level).collect::<Option<_>>();
        let levels = levels.ok_or(ParameterError::PlainModulus {
            value: spec.plain,
            reason: "shares a factor with a prime",
        })?;
        Ok(Tables { encoder, levels, auxiliary })
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

    /// round(Q·m/t) = (Q·m + h − ((Q·m + h) mod t))/t with h = floor(t/2); modulo q_j this is (h − that rest)·t^-1.
    fn inject(params: &Params<Self>, plaintext: &Plaintext<Self>, level: usize, (): ()) -> Poly<Eval> {
        let t = &params.tables().encoder.modulus;
        let q_mod_t = t.factor(params.tables().levels[level].modulus_residue);
        let half = t.value() / 2;
        let rest = |c: &i64| {
            let scaled = t.multiply_factor(t.from_signed(*c), q_mod_t);
            half as i64 - t.add(scaled, half) as i64
        };
        let rests = zeroize::Zeroizing::new(plaintext.coefficients().iter().map(rest).collect::<Vec<i64>>());
        let mut poly = Poly::from_signed(params.ring(), params.limbs(level), &rests);
        poly.scale_by(|q| q.invert_vartime(t.value()).expect("t is coprime to every prime"));
        poly.into_eval()
    }

    /// round(t·phase/Q) mod t: with y_i = x_i·(Q/q_i)^-1 mod q_i this is Σ floor(t·y_i/q_i) and the rounded sum of the
    /// fractions, each to 64 bits (Halevi, Polyakov and Shoup, ePrint 2018/117, section 2.3).
    fn recover(params: &Params<Self>, phase: Poly<Eval>, level: usize, (): ()) -> Plaintext<Self> {
        let phase = zeroize::Zeroizing::new(phase.into_coeff());
        let t = &params.tables().encoder.modulus;
        let mut sums = zeroize::Zeroizing::new(vec![0u64; params.degree()]);
        let mut fractions = zeroize::Zeroizing::new(vec![1u128 << 63; params.degree()]);
        for (i, factor) in params.limbs(level).zip(&params.tables().levels[level].recover) {
            let scaler = Scaler::new(t, params.modulus(i));
            for ((x, sum), fraction) in phase.limb(i).iter().zip(sums.iter_mut()).zip(fractions.iter_mut()) {
                let y = params.modulus(i).multiply_factor(*x, *factor);
                let (whole, part) = scaler.scale(t, params.modulus(i), y);
                *sum = t.add(*sum, whole);
                *fraction += u128::from(part);
            }
        }
        let coefficient =
            |(sum, fraction): (&u64, &u128)| t.centre(t.add(*sum, t.reduce((fraction >> 64) as u64)));
        let coefficients = sums.iter().zip(fractions.iter()).map(coefficient).collect();
        Plaintext::recovered(coefficients, level, ())
    }

    /// The tensor product over Q_l and the auxiliary primes, times t, divided by Q_l (ePrint 2018/117, section 2.4, with
    /// the remainder converted instead of the quotient).
    fn tensor(params: &Params<Self>, level: usize, a: &[Poly<Eval>], b: &[Poly<Eval>]) -> Vec<Poly<Eval>> {
        let tables = &params.tables().levels[level];
        let limbs = params.limbs(level);
        let auxiliary = params.tables().auxiliary.clone();
        let kernels = params.ring().kernels();
        // One polynomial over all of the ring; limbs between Q_l and the auxiliary primes stay zero.
        let whole = limbs.start..auxiliary.end;
        let extend = |c: &Poly<Eval>| {
            let coefficients = c.clone().into_coeff();
            let sources: Vec<&[u64]> = limbs.clone().map(|i| coefficients.limb(i)).collect();
            let quotients = tables.to_auxiliary.prepare(kernels, &sources);
            let mut out = Poly::<Eval>::zero(params.ring(), whole.clone());
            for i in limbs.clone() {
                out.limb_mut(i).copy_from_slice(c.limb(i));
            }
            for (j, i) in auxiliary.clone().enumerate() {
                tables.to_auxiliary.write(kernels, &quotients, j, out.limb_mut(i));
                (kernels.ntt_forward)(params.ring().table(i), out.limb_mut(i));
            }
            out
        };
        let a: Vec<_> = a.iter().map(extend).collect();
        let b: Vec<_> = b.iter().map(extend).collect();
        let scale_down = |mut c: Poly<Eval>| {
            c.scale_by(|q| q.reduce(params.plain_modulus()));
            let quotient: Poly<Coeff> = tables.division.apply(&c.into_coeff());
            let sources: Vec<&[u64]> = auxiliary.clone().map(|i| quotient.limb(i)).collect();
            let quotients = tables.from_auxiliary.prepare(kernels, &sources);
            let mut out = Poly::<Coeff>::zero(params.ring(), limbs.clone());
            for (j, i) in limbs.clone().enumerate() {
                tables.from_auxiliary.write(kernels, &quotients, j, out.limb_mut(i));
            }
            out.into_eval()
        };
        pointwise_tensor(&a, &b).into_iter().map(scale_down).collect()
    }
}

impl LevelTables {
    fn new(
        ring: &Ring,
        limbs: core::ops::Range<usize>,
        auxiliary: core::ops::Range<usize>,
        t: &Modulus,
    ) -> Option<Self> {
        let (data, extra) = (ring.moduli(limbs.clone()), ring.moduli(auxiliary.clone()));
        let recover = limbs
            .clone()
            .map(|i| {
                let q = ring.modulus(i);
                let others = limbs.clone().filter(|j| *j != i);
                let product = others.fold(1, |p, j| q.multiply(p, q.reduce(ring.modulus(j).value())));
                q.invert_vartime(product).map(|x| q.factor(x))
            })
            .collect::<Option<_>>()?;
        Some(Self {
            modulus_residue: ring.product_modulo(limbs.clone(), t),
            recover,
            to_auxiliary: Conversion::new(&data, &extra),
            from_auxiliary: Conversion::new(&extra, &data),
            division: Division::new(ring, limbs, auxiliary, Rounding::Nearest)?,
        })
    }
}

/// t·y/q as a whole part modulo t and a 64-bit fraction.
struct Scaler {
    /// floor(t/q).
    whole: u64,
    /// floor(2^(62+b)/q), b the bits of q.
    reciprocal: u64,
    rest: sotto_ring::Factor,
}

impl Scaler {
    fn new(t: &Modulus, q: &Modulus) -> Self {
        Self {
            whole: t.value() / q.value(),
            reciprocal: ((1u128 << (62 + q.bits())) / u128::from(q.value())) as u64,
            rest: q.factor(t.value() % q.value()),
        }
    }

    /// Range: y < q.
    fn scale(&self, t: &Modulus, q: &Modulus, y: u64) -> (u64, u64) {
        // t·y = whole·q·y + rest·y, and rest·y = quotient·q + remainder.
        let estimate = ((u128::from(y) * u128::from(self.rest.quotient)) >> 64) as u64;
        let lazy = y.wrapping_mul(self.rest.value).wrapping_sub(estimate.wrapping_mul(q.value()));
        let carry = u64::from(lazy >= q.value());
        let remainder = q.correct(lazy);
        let whole = t.add(t.multiply(t.reduce(self.whole), t.reduce(y)), t.reduce(estimate + carry));
        // remainder·2^64/q, at most 5 too small.
        let fraction = (u128::from(remainder) * u128::from(self.reciprocal)) >> (q.bits() - 2);
        (whole, fraction as u64)
    }
}
