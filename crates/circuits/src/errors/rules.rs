//! The error that each operation leaves and adds.

use sotto_ring::{ERROR_VARIANCE, TERNARY_VARIANCE};
use sotto_rlwe::{LevelRules, Lowering, Origin, Params, PlainSize, Scheme, Shape};

use super::terms::{Errors, Event, KeyUse, Kind, Source};

/// A combination of more terms is replaced by its bound, which is still correct but coarser.
const MOST_TERMS: usize = 1 << 15;

/// The errors of operations on CKKS ciphertexts of given parameters. Exact schemes have none.
///
/// ```
/// use sotto_circuits::{ErrorRules, Event, KeyUse};
/// use sotto_rlwe::{Ckks, Origin, Params, Shape};
///
/// let params = Params::<Ckks>::default_chain(8192, 0)?;
/// let rules = ErrorRules::new(&params).ok_or("exact")?;
/// let mut shape = Shape::fresh(&params, Origin::SecretKey, 1.0)?;
/// let mut errors = rules.fresh(Origin::SecretKey, Event::new(), 0, None);
/// // The sum of all 4096 slots, by rotations.
/// for step in (0..12).map(|bit| 1 << bit) {
///     let mut moved = errors.clone();
///     rules.rotate(&mut moved, step);
///     rules.switch(&params, &mut moved, shape.level, KeyUse::Rotation(step));
///     rules.add(&mut errors, &moved);
///     shape = shape.add(&params, &shape.rotate(&params, step)?)?;
/// }
/// let bound = rules.slot_error(&params, &errors, &shape, None);
/// assert!(100.0 * bound < shape.slot_error(&params));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ErrorRules {
    /// The canonical norm of a polynomial is below this value times its parameter.
    pub(super) tail: f64,
    pub(super) degree: f64,
    pub(super) row: u32,
    // √(n·V) of errors, of uniform roundings, and of ternary polynomials.
    error: f64,
    uniform: f64,
    ternary: f64,
    // The canonical norm of a secret.
    secret: f64,
}

impl ErrorRules {
    /// Returns the rules for these parameters; None for exact schemes.
    pub fn new<S: LevelRules>(params: &Params<S>) -> Option<Self> {
        if S::EXACT {
            return None;
        }
        let (degree, norms) = (params.degree() as f64, &params.norms().bound);
        let uniform = (degree / 12.0).sqrt();
        Some(Self {
            tail: norms.uniform.value() / uniform,
            degree,
            row: (params.degree() / 2) as u32,
            error: (degree * ERROR_VARIANCE).sqrt(),
            uniform,
            ternary: (degree * TERNARY_VARIANCE).sqrt(),
            secret: norms.secret.value(),
        })
    }

    /// Returns the error of a fresh ciphertext: `part` of the encryption of `vector`, of slots that repeat after `period`.
    /// Errors of different parts are independent.
    pub fn fresh(&self, origin: Origin, vector: Event, part: u32, period: Option<usize>) -> Errors {
        let mut errors = Errors::default();
        // The parameter of e0 + e·u + e1·s, where e and s belong to the keys, and u, e0 and e1 to this encryption.
        let size = match origin {
            Origin::SecretKey => self.error,
            Origin::PublicKey => {
                let parameters =
                    [self.error, self.tail * self.error * self.ternary, self.error * self.secret];
                parameters.iter().map(|size| size * size).sum::<f64>().sqrt()
            }
        };
        let polynomial = part..part.saturating_add(1);
        errors.push((Source::Fresh, vector, Kind::Random), polynomial.clone(), size, self.row);
        let period = period.map_or(self.row, |period| self.row.min(period as u32));
        // Σ |ρ(ζ_r)|² over a period is at most half of 2·period·Σ ρ_i² by Parseval, and |ρ_i| ≤ 1/2.
        let rounding = f64::from(period) / core::f64::consts::SQRT_2;
        errors.push((Source::Encoding, vector, Kind::Rounding(period)), polynomial, rounding, self.row);
        errors
    }

    /// Returns an error that consists of the shape's bound alone, like that of a ciphertext from elsewhere. `before` lists
    /// the keys that the ciphertext may depend on.
    pub fn unknown<S: Scheme>(&self, shape: &Shape<S>, before: &Errors) -> Errors {
        Errors { terms: Vec::new(), worst: shape.noise.error.value(), ..before.clone() }
    }

    /// Returns the error of a polynomial as large as the shape's bound and as random as a fresh one. It is no bound: it
    /// serves to compare ways to compute, by shapes alone.
    pub fn like_fresh<S: Scheme>(&self, shape: &Shape<S>, vector: Event, part: u32) -> Errors {
        let mut errors = Errors::default();
        let size = shape.noise.error.value() / self.tail;
        errors.push((Source::Fresh, vector, Kind::Random), part..part.saturating_add(1), size, self.row);
        errors
    }

    /// Adds the error of an addend.
    pub fn add(&self, errors: &mut Errors, other: &Errors) {
        errors.add(other, self.row);
        self.limit(errors);
    }

    /// Adds the error of a subtrahend.
    pub fn subtract(&self, errors: &mut Errors, other: &Errors) {
        errors.subtract(other, self.row);
        self.limit(errors);
    }

    /// Negates the error.
    pub fn negate(&self, errors: &mut Errors) {
        errors.negate();
    }

    /// Multiplies by an integer.
    pub fn multiply_integer(&self, errors: &mut Errors, integer: i64) {
        errors.scale(integer as f64);
    }

    /// Multiplies by a power of X, whose absolute value is 1 at every root.
    pub fn multiply_monomial(&self, errors: &mut Errors) {
        self.settle(errors);
        errors.spread(1.0);
    }

    /// Adds the rounding error of a plaintext's encoding.
    pub fn add_plain(&self, errors: &mut Errors, size: PlainSize) {
        errors.worst += size.rounding.value();
    }

    /// Multiplies by a plaintext an operand that has had this shape.
    pub fn multiply_plain<S: Scheme>(&self, errors: &mut Errors, before: &Shape<S>, size: PlainSize) {
        let (norm, rounding) = (size.norm.value(), size.rounding.value());
        self.settle(errors);
        errors.spread(norm + rounding);
        errors.worst += before.noise.message.value() * rounding;
    }

    /// Returns the error (m_a + e_a)(m_b + e_b) − m_a·m_b. Messages do not depend on the randomness, so they are constant
    /// factors.
    pub fn product<S: Scheme>(&self, a: (&Errors, &Shape<S>), b: (&Errors, &Shape<S>)) -> Errors {
        let cross = |(errors, _): (&Errors, &Shape<S>), (_, other): (&Errors, &Shape<S>)| {
            let mut cross = errors.clone();
            self.settle(&mut cross);
            cross.spread(other.noise.message.value());
            cross
        };
        let mut product = cross(a, b);
        self.add(&mut product, &cross(b, a));
        product.worst += self.total(a.0, None) * self.total(b.0, None);
        product.mix();
        product
    }

    /// Divides by an integer.
    pub fn divide(&self, errors: &mut Errors, by: u64) {
        errors.scale(1.0 / by as f64);
    }

    /// Multiplies by a plaintext that is one number in every slot, of this sign, an operand that has had this shape.
    pub fn multiply_constant<S: Scheme>(
        &self,
        errors: &mut Errors,
        before: &Shape<S>,
        size: PlainSize,
        negative: bool,
    ) {
        // The encoded number is an integer, by which the error is multiplied exactly.
        errors.scale(if negative { -size.norm.value() } else { size.norm.value() });
        errors.worst += before.noise.message.value() * size.rounding.value();
    }

    /// Rotates the slots; 0 conjugates them, which keeps absolute values. The key switch adds its error afterwards.
    pub fn rotate(&self, errors: &mut Errors, by: i32) {
        if by == 0 {
            self.settle(errors);
            errors.spread(1.0);
        } else {
            errors.rotate(by, self.row);
        }
    }

    /// Adds the error of a key switch.
    pub fn switch<S: Scheme>(&self, params: &Params<S>, errors: &mut Errors, level: usize, key: KeyUse) {
        let special = params.special_bits();
        // Digits are bounded at every root; the errors of the key's digits are independent of each other. A digit may exceed
        // half of its product by a factor of 1 + 2^-21.
        let digits = params.digits(level).map(|digit| {
            let size = self.tail
                * self.uniform
                * (params.ring().product_bits(digit) - special + 1.0 / 65536.0).exp2();
            (size * self.error).powi(2)
        });
        let (switched, rounding) = (digits.sum::<f64>().sqrt(), self.uniform * self.secret_powers(2));
        if errors.mixed.binary_search(&key).is_ok() {
            let most = (params.digits(level).count() as f64).sqrt();
            errors.worst += self.tail * (switched * most + rounding);
        } else {
            let event = Event::new();
            for (kind, size) in [(Kind::Switched, switched), (Kind::Random, rounding)] {
                errors.push((Source::Key(key), event, kind), 0..1, size, self.row);
            }
        }
        errors.uses(key);
    }

    /// Divides by the last prime of a level an operand of this many components.
    pub fn drop_prime<S: Scheme>(
        &self,
        params: &Params<S>,
        errors: &mut Errors,
        level: usize,
        components: usize,
    ) {
        self.divide(errors, params.data_prime(level));
        self.round(errors, components);
    }

    /// Brings an operand from one shape to another of a lower level, without changing its message.
    pub fn lower<S: Scheme>(
        &self,
        params: &Params<S>,
        errors: &mut Errors,
        before: &Shape<S>,
        after: &Shape<S>,
    ) {
        if before.level == after.level {
            return;
        }
        // Multiplied by a constant and divided by the prime above the level: one rounding.
        let Ok(Lowering::Rescale(constant)) = S::lowering(params, before, after.level) else {
            *errors = self.unknown(after, errors);
            return;
        };
        self.multiply_constant(errors, before, constant.size(), false);
        self.drop_prime(params, errors, after.level + 1, before.components);
    }

    /// Notes the relinearisations of a circuit whose error the caller has bounded: all later masks depend on its keys.
    pub fn circuit<S: Scheme>(&self, errors: &mut Errors, after: &Shape<S>) {
        *errors = self.unknown(after, errors);
        errors.uses(KeyUse::Relinearisation);
        errors.mix();
    }

    /// Returns 1 + |s| + |s|² + … with one term per component.
    fn secret_powers(&self, components: usize) -> f64 {
        (0..components).map(|power| self.secret.powi(power as i32)).sum()
    }

    /// Adds the rounding error of a division by a prime.
    fn round(&self, errors: &mut Errors, components: usize) {
        let rounding = self.uniform * self.secret_powers(components);
        errors.push((Source::Rescaling, Event::new(), Kind::Random), 0..1, rounding, self.row);
    }

    /// Replaces too many terms by their bound.
    fn limit(&self, errors: &mut Errors) {
        if errors.terms.len() > MOST_TERMS {
            errors.collapse(self.total(errors, None));
        }
    }
}
