//! BFV (Fan and Vercauteren, ePrint 2012/144; Brakerski, ePrint 2012/078): message in the high bits.

mod levels;
mod noise;
mod product;

use alloc::sync::Arc;
use alloc::vec::Vec;

#[cfg(not(feature = "std"))]
use num_traits::Float as _;
use sotto_ring::{
    Conversion, Eval, Factor, Modulus, Poly, Ring, Rounding, Scratch, Target, Wiped, primes, words_mut,
};

use crate::error::{EncodeError, EvalError, ParameterError};
use crate::injection::Injection;
use crate::lean::{LeanEncoding, LeanInjection, SlotValues};
use crate::parameters::{ParameterSpec, Params, SchemeId};
use crate::plaintext::Plaintext;
use crate::scheme::Scheme;
use crate::schemes::integer::{IntegerEncoder, check_plain_modulus, integer_encoding, lean_residues};

/// The scheme BFV: integers modulo t.
///
/// ```
/// use sotto_rlwe::{Bfv, Params, Scheme};
///
/// let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// assert_eq!(Bfv::slot_shape(&params), Some((2, 2048)));
/// // Values are exact, centred modulo t.
/// let plaintext = Bfv::encode_slots(&params, &[-40, 40_000], params.top_level())?;
/// assert_eq!(Bfv::decode_slots(&params, &plaintext)?[..2], [-40, 40_000 - 65_537]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bfv {}

/// Tables of BFV.
///
/// Example: [`Bfv`]
#[derive(Debug)]
pub struct Tables {
    encoder: IntegerEncoder,
    levels: Vec<LevelTables>,
    /// t^-1 modulo the prime of each limb.
    plain_inverses: Vec<Factor>,
}

#[derive(Debug)]
struct LevelTables {
    /// The limbs of the auxiliary primes that a product at this level takes.
    auxiliary: core::ops::Range<usize>,
    /// Q_l mod t.
    modulus_residue: u64,
    /// Conversion from Q_l to t; `recover` is −Q_l^-1 mod t.
    to_plain: Conversion,
    recover: u64,
    to_auxiliary: Conversion,
    from_auxiliary: Conversion,
    /// For each auxiliary prime, 1/Q_l times its row factor in `from_auxiliary`, and the negative of that.
    divide: Vec<[sotto_ring::Factor; 2]>,
}

/// Maximum number of auxiliary primes: a conversion takes one more.
const MOST_AUXILIARY: f64 = (sotto_ring::MOST_SOURCES - 1) as f64;
/// The largest log2 of the auxiliary modulus.
const LARGEST_AUXILIARY: f64 = MOST_AUXILIARY * 59.9;

impl Bfv {
    /// Returns log2 of 4·n·t·Q.
    fn auxiliary_bits(spec: &ParameterSpec) -> f64 {
        spec.data_bits() + Self::product_bits(spec)
    }

    /// Returns log2 of 4·n·t.
    fn product_bits(spec: &ParameterSpec) -> f64 {
        (spec.plain as f64).log2() + (spec.degree as f64).log2() + 2.0
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

    /// Returns enough primes that the product exceeds n·t·Q, twice the largest coefficient of a scaled product: of 44
    /// bits, or of 60 if a conversion does not take that many. The product of two ciphertexts is the same integer with
    /// either.
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
        let encoder = IntegerEncoder::new(spec, ring.target())?;
        let special = spec.special.len();
        let first = special + spec.data.len();
        let level = |level| {
            let limbs = special..special + level + 1;
            // A lower level has a smaller Q_l: fewer auxiliary primes exceed n·t·Q_l, and the quotient is the same integer.
            let needed = ring.product_bits(limbs.clone()) + Self::product_bits(spec);
            let end = (first + 1..ring.limb_count()).find(|end| ring.product_bits(first..*end) >= needed);
            let auxiliary = first..end.unwrap_or(ring.limb_count());
            LevelTables::new(ring, limbs, auxiliary, &encoder.modulus)
        };
        let levels = (0..spec.data.len()).map(level).collect::<Option<_>>();
        let shares =
            ParameterError::PlainModulus { value: spec.plain, reason: "shares a factor with a prime" };
        let levels = levels.ok_or(shares.clone())?;
        let inverse = |q: &Modulus| q.invert_vartime(spec.plain).map(|inverse| q.factor(inverse));
        let plain_inverses = ring.moduli(ring.all_limbs()).iter().map(inverse).collect::<Option<_>>();
        Ok(Tables { encoder, levels, plain_inverses: plain_inverses.ok_or(shares)? })
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

    /// t·round(Q·m/t) = Q·m + h − ((Q·m + h) mod t) with h = floor(t/2); modulo every q_j this is h − ((Q·m + h) mod
    /// t).
    fn message(
        params: &Params<Self>,
        plaintext: &Plaintext<Self>,
        level: usize,
        (): (),
    ) -> (Wiped<i64>, u64) {
        let (encoder, modulus_residue) =
            (&params.tables().encoder, params.tables().levels[level].modulus_residue);
        let mut rests = encoder.centred_multiple(plaintext.coefficients(), modulus_residue);
        negate(&mut rests);
        (rests, encoder.modulus.value())
    }

    fn message_divisor(params: &Params<Self>) -> u64 {
        params.plain_modulus()
    }

    fn divisor_inverse(params: &Params<Self>, limb: usize) -> Factor {
        params.tables().plain_inverses[limb]
    }

    /// round(t·phase/Q) mod t: if r is the centred remainder of t·phase modulo Q, this is (t·phase − r)/Q ≡ −r·Q^-1
    /// (mod t), and r modulo t is a base conversion (as in the division of ePrint 2018/117, section 2.3). r is t times
    /// the noise, so few primes determine it.
    fn recover(params: &Params<Self>, phase: &Poly<Eval>, level: usize, (): ()) -> Plaintext<Self> {
        let (ring, levels) = (params.ring(), &params.tables().levels);
        let (to_plain, by) = (&levels[phase.limbs().len() - 1].to_plain, levels[level].recover);
        let limbs = phase.limbs().map(|i| (ring.table(i), phase.limb(i)));
        let mut scratch = Scratch::new();
        let (t, kernels) = (params.plain_modulus(), ring.kernels());
        let quotients = to_plain.prepare_multiple(kernels, limbs, t, &mut scratch);
        let mut coefficients = Wiped::zeros(params.degree());
        to_plain.write_centred(kernels, &quotients, 0, by, &mut coefficients);
        Plaintext::recovered(params, coefficients, level, ())
    }

    fn tensor(
        params: &Params<Self>,
        level: usize,
        a: &[Poly<Eval>],
        b: &[Poly<Eval>],
        scratch: &mut Scratch,
    ) -> [Poly<Eval>; 3] {
        product::tensor(params, level, a, b, scratch)
    }
}

impl LeanEncoding for Bfv {
    fn lean_injection(
        spec: &ParameterSpec,
        values: SlotValues<'_>,
        _largest: f64,
    ) -> Result<LeanInjection, EncodeError> {
        let (t, mut rests) = lean_residues(spec, values)?;
        let product = |product, q: &u64| t.multiply(product, t.reduce(*q));
        let modulus_residue = spec.data.iter().fold(t.reduce(1), product);
        let (kernels, residues) = (&Target::best().kernels, words_mut(&mut rests));
        (kernels.scale)(&t, residues, t.factor(modulus_residue));
        (kernels.centre)(&t, residues);
        negate(&mut rests);
        let injection = Injection::of_values(rests, t.value());
        Ok(LeanInjection { injection, error_factor: t.value(), divisor: t.value() })
    }
}

/// Turns centred Q·m into h − ((Q·m + h) mod t): the representative nearest to zero, negated.
fn negate(rests: &mut [i64]) {
    rests.iter_mut().for_each(|rest| *rest = -*rest);
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
        let recover = t.negate(t.invert_vartime(modulus_residue)?);
        let from_auxiliary = Conversion::new(&extra, &data);
        let divide = |(j, b): (usize, &Modulus)| {
            let inverse = b.invert_vartime(ring.product_modulo(limbs.clone(), b))?;
            let factor = b.multiply(inverse, from_auxiliary.row_factor(j));
            Some([factor, b.negate(factor)].map(|x| b.factor(x)))
        };
        let divide = extra.iter().enumerate().map(divide).collect::<Option<_>>()?;
        Some(Self {
            auxiliary,
            modulus_residue,
            to_plain: Conversion::new(&data, &[*t]),
            recover,
            to_auxiliary: Conversion::new(&data, &extra),
            from_auxiliary,
            divide,
        })
    }
}
