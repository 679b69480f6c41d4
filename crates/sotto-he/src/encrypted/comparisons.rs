//! Comparisons of real numbers, and functions made of them.

use core::cell::Cell;

use sotto_circuits::{Machine, Sign, SignBound};
use sotto_rlwe::{Ckks, DefaultChain, Scheme};

use super::slotwise::Scaled;
use super::work::{Operands, Operation, Outcome, check, run};
use super::{Body, Encrypted, Facts};
use crate::error::{Error, Result};
use crate::flags::Flags;

/// A function of the sign of every slot.
struct Compared {
    sign: Sign,
    /// Slots times this are within ±1.
    factor: f64,
    function: Function,
    bound: Cell<Option<SignBound>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Function {
    Sign,
    Absolute,
    Relu,
}

impl Operation<Ckks> for Compared {
    fn run<M: Machine<Value = f64>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        let part = |part: &M::Vector| match self.function {
            Function::Absolute => self.sign.absolute(machine, part, self.factor),
            Function::Relu => self.sign.relu(machine, part, self.factor),
            Function::Sign => {
                let (signs, bound) = self.sign.evaluate(machine, part, self.factor)?;
                self.widen(bound);
                Ok(signs)
            }
        };
        operands[0].iter().map(part).collect()
    }
}

impl Compared {
    /// Lets the bound hold for one more part.
    fn widen(&self, part: SignBound) {
        let bound = self.bound.get().map_or(part, |all| SignBound {
            error: all.error.max(part.error),
            noise: all.noise.max(part.noise),
            ..all
        });
        self.bound.set(Some(bound));
    }
}

/// Slots between these are compared as they are. Larger ones are shrunk first, which takes a level.
const SLOTS: [f64; 2] = [0.5, 4.0];
/// Flags are told apart while error and noise together leave this much between 0 and 1.
pub(crate) const BETWEEN: f64 = 0.05;

impl Encrypted<Ckks> {
    /// Returns the sign of every value, about ±1, and its bound. `gap` is a fraction of the largest absolute value that
    /// [`magnitude`](Encrypted::magnitude) states: where |x| ≥ gap·magnitude, the sign is right within
    /// [`SignBound::error`]; nearer to 0 it lies between. The error bound of the vector is that of the noise alone.
    ///
    /// # Errors
    /// [`Error::Circuit`] for a gap below 2^-12; [`Error::Depth`] without room, with the gap or the degree that would do;
    /// [`Error::NoKeys`].
    ///
    /// ```
    /// # use sotto::{Ckks, Context};
    /// # let sign = |x: &[sotto::Encrypted<Ckks>]| Ok(x[0].sign(1.0 / 16.0)?.0);
    /// # let context = Context::<Ckks>::builder().values_within(10.0).build_for(&[2], sign)?;
    /// # let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let (signs, bound) = secret.encrypt(&[-7.0, 2.5])?.sign(1.0 / 16.0)?;
    /// let found = secret.decrypt(&signs)?;
    /// assert!((found.values()[0] + 1.0).abs() <= bound.error + found.bound());
    /// assert!((found.values()[1] - 1.0).abs() <= bound.error + found.bound());
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn sign(&self, gap: f64) -> Result<(Self, SignBound)> {
        let (body, facts, bound) = self.compared(gap, Function::Sign)?;
        let magnitude = 1.0 + bound.error;
        let facts = match facts.is_public() {
            true => facts,
            false => Facts { unit: 1.0, ..facts }.within_slots(magnitude)?,
        };
        Ok((Self::new(&self.context, facts, body), bound))
    }

    /// Returns, for each value, a flag that says if it is greater than `limit`. `gap` is a fraction of the bound on
    /// |x − limit|, at most [`magnitude`](Encrypted::magnitude) + |limit|: nearer to the limit a flag may be undecided, and is
    /// never wrong.
    ///
    /// # Errors
    /// As [`Encrypted::sign`].
    ///
    /// ```
    /// use sotto::{Ckks, Context, Flag};
    ///
    /// // Temperatures within ±128 °C; above 80 °C is too hot. The gap is 208·2^-4 = 13 °C.
    /// let hot = |x: &[sotto::Encrypted<Ckks>]| x[0].greater_than(80.0, 1.0 / 16.0);
    /// let context = Context::<Ckks>::builder()
    ///     .values_within(128.0)
    ///     .build_for(&[4], |x| Ok(hot(x)?.into_vector()))?;
    /// let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let flags = hot(&[secret.encrypt(&[20.0, 120.0, 80.0, -40.0])?])?;
    /// assert_eq!(secret.decrypt_flags(&flags)?, [Flag::No, Flag::Yes, Flag::Undecided, Flag::No]);
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn greater_than(&self, limit: f64, gap: f64) -> Result<Flags> {
        self.above(limit)?.flags(gap)
    }

    /// Returns, for each value, a flag that says if it is less than `limit`; otherwise as [`Encrypted::greater_than`].
    ///
    /// # Errors
    /// As [`Encrypted::sign`].
    pub fn less_than(&self, limit: f64, gap: f64) -> Result<Flags> {
        self.above(limit)?.negated()?.flags(gap)
    }

    /// Returns, for each pair of values, a flag that says if that of this vector is greater: the gap is a fraction of the
    /// sum of both magnitudes.
    ///
    /// # Errors
    /// As [`Encrypted::sign`]; [`Error::Length`].
    pub fn greater_than_each(&self, other: &Self, gap: f64) -> Result<Flags> {
        self.combined(other, true)?.flags(gap)
    }

    /// Returns |x|, value by value: the sign and a product. Off by less than gap·magnitude and the noise, which the error
    /// bound of the result covers.
    ///
    /// # Errors
    /// As [`Encrypted::sign`].
    ///
    /// ```
    /// # use sotto::{Ckks, Context};
    /// # let context = Context::<Ckks>::builder().values_within(10.0).build_for(&[3], |x| x[0].abs(1.0 / 16.0))?;
    /// # let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let found = secret.decrypt(&secret.encrypt(&[-7.0, 2.5, 0.0])?.abs(1.0 / 16.0)?)?;
    /// assert!((found.values()[0] - 7.0).abs() <= found.bound() && found.values()[2].abs() <= found.bound());
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn abs(&self, gap: f64) -> Result<Self> {
        let (body, facts, _) = self.compared(gap, Function::Absolute)?;
        Ok(Self::new(&self.context, facts, body))
    }

    /// Returns the larger of 0 and x, value by value; half of the error of [`Encrypted::abs`].
    ///
    /// # Errors
    /// As [`Encrypted::sign`].
    pub fn relu(&self, gap: f64) -> Result<Self> {
        let (body, facts, _) = self.compared(gap, Function::Relu)?;
        Ok(Self::new(&self.context, facts, body))
    }

    /// Returns the larger of two values, pair by pair: y + relu(x − y). The gap is a fraction of the sum of both
    /// magnitudes.
    ///
    /// # Errors
    /// As [`Encrypted::sign`]; [`Error::Length`].
    ///
    /// ```
    /// # use sotto::{Ckks, Context};
    /// # let context = Context::<Ckks>::builder().values_within(10.0).build_for(&[2, 2], |x| x[0].max(&x[1], 1.0 / 16.0))?;
    /// # let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let (inside, outside) = (secret.encrypt(&[7.0, -2.0])?, secret.encrypt(&[-3.0, 9.5])?);
    /// let warmer = secret.decrypt(&inside.max(&outside, 1.0 / 16.0)?)?;
    /// assert!((warmer.values()[0] - 7.0).abs() <= warmer.bound());
    /// assert!((warmer.values()[1] - 9.5).abs() <= warmer.bound());
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn max(&self, other: &Self, gap: f64) -> Result<Self> {
        let magnitude = self.facts.magnitude.max(other.facts.magnitude);
        let above = self.combined(other, true)?.relu(gap)?;
        Ok(above.combined(other, false)?.with_magnitude(magnitude))
    }

    /// Returns the smaller of two values, pair by pair: x − relu(x − y).
    ///
    /// # Errors
    /// As [`Encrypted::max`].
    pub fn min(&self, other: &Self, gap: f64) -> Result<Self> {
        let magnitude = self.facts.magnitude.max(other.facts.magnitude);
        let above = self.combined(other, true)?.relu(gap)?;
        Ok(self.combined(&above, true)?.with_magnitude(magnitude))
    }

    /// Returns values brought between `low` and `high`: low + relu(x − low) − relu(x − high). Two comparisons; each gap is a
    /// fraction of magnitude + |limit|.
    ///
    /// # Errors
    /// As [`Encrypted::sign`]; [`Error::Limits`] unless low ≤ high.
    pub fn clip(&self, low: f64, high: f64, gap: f64) -> Result<Self> {
        if low.is_nan() || high.is_nan() || low > high {
            return Err(Error::Limits { low, high });
        }
        let (above_low, above_high) = (self.above(low)?.relu(gap)?, self.above(high)?.relu(gap)?);
        let between = above_low.combined(&above_high, true)?.shifted(low)?;
        Ok(between.with_magnitude(low.abs().max(high.abs())))
    }

    fn above(&self, limit: f64) -> Result<Self> {
        if limit == 0.0 { Ok(self.clone()) } else { self.shifted(-limit) }
    }

    fn flags(&self, gap: f64) -> Result<Flags> {
        let (signs, bound) = self.sign(gap)?;
        // Half of the sign, and 1/2 for the values alone, so that padding stays zero.
        let steps = signs.scaled(0.5)?.shifted(0.5)?.with_magnitude(1.0 + bound.error);
        let half = |bound: f64| bound / 2.0;
        let flags = Flags::new(
            steps,
            SignBound { error: half(bound.error), noise: half(bound.noise), ..bound },
            self.facts.magnitude,
        );
        match flags.between() {
            between if between >= BETWEEN => Ok(flags),
            between => {
                let reason = format!(
                    "the noise bound leaves {between:.3} between the flags of a comparison with a gap of {gap:e}, which takes \
                     {BETWEEN}: a larger scale or a larger gap is needed"
                );
                Err(Error::Depth { degree: self.context.params().degree(), reason })
            }
        }
    }

    /// Runs a function of the sign; slots are brought near ±1 first.
    fn compared(&self, gap: f64, function: Function) -> Result<(Body<Ckks>, Facts, SignBound)> {
        let sign = function.sign(gap)?;
        if self.facts.is_public() {
            let compared = |number: f64| function.of(number);
            let public = self.public(self.len(), self.facts.offset.mapped(self.len(), compared))?;
            return Ok((public.body, public.facts, SignBound { gap: sign.gap(), error: 0.0, noise: 0.0 }));
        }
        if !self.facts.offset.is_none() {
            return self.with_offset_in_slots()?.compared(gap, function);
        }
        let slots = self.facts.slots_within();
        if slots > SLOTS[1] {
            return self.shrunk(slots)?.compared(gap, function);
        }
        if slots < SLOTS[0] && slots > 0.0 {
            let times = (-slots.log2()).floor().exp2().min(LARGEST);
            if times > 1.0 {
                let facts = Facts { unit: self.facts.unit / times, ..self.facts.clone() }.finite()?;
                let body = run(&[self], &Scaled(times))?;
                return Self::new(&self.context, facts, body).compared_here(sign, function);
            }
        }
        self.compared_here(sign, function)
    }

    fn compared_here(&self, sign: Sign, function: Function) -> Result<(Body<Ckks>, Facts, SignBound)> {
        let work = Compared {
            sign,
            // A negative unit turns the slots' signs back.
            factor: self.facts.unit / self.facts.magnitude,
            function,
            bound: Cell::new(None),
        };
        let takes = function.depth(sign);
        if self.levels_left() < takes {
            return Err(self.too_deep(function, sign.gap(), takes));
        }
        check(&[self], &work)?;
        let body = run(&[self], &work)?;
        let bound = work.bound.get().unwrap_or(SignBound { gap: sign.gap(), error: 0.0, noise: 0.0 });
        Ok((body, self.facts.clone(), bound))
    }

    /// The refusal of a comparison that takes more levels than are left: the gap and the degree that would do.
    fn too_deep(&self, function: Function, gap: f64, takes: usize) -> Error {
        let (left, degree) = (self.levels_left(), self.context.params().degree());
        let fitting = Sign::all()
            .map(|sign| sign.gap())
            .filter(|gap| function.sign(*gap).is_ok_and(|sign| function.depth(sign) <= left));
        let fitting = fitting.min_by(f64::total_cmp);
        let levels = takes + self.context.params().top_level() - left;
        let mut chains = DefaultChain::all(Ckks::ID).iter();
        let larger = chains.find(|chain| chain.degree > degree && chain.others.1 >= levels);
        let bits = |gap: f64| format!("2^{}", gap.log2());
        let mut remedies: Vec<String> = Vec::new();
        remedies.extend(fitting.map(|gap| format!("a gap of {} fits", bits(gap))));
        remedies.extend(larger.map(|chain| format!("n = {} has the levels", chain.degree)));
        let remedies = if remedies.is_empty() { "compare earlier".into() } else { remedies.join(", or ") };
        let reason = format!(
            "a comparison with a gap of {} takes {takes} levels, {left} are left: {remedies}",
            bits(gap)
        );
        Error::Depth { degree, reason }
    }
}

impl Function {
    /// The function of a public number.
    fn of(self, number: f64) -> f64 {
        match self {
            Self::Sign if number == 0.0 => 0.0,
            Self::Sign => number.signum(),
            Self::Absolute => number.abs(),
            Self::Relu => number.max(0.0),
        }
    }

    /// The composition for a gap. A factor that is off by more than the gap would make the whole product so.
    fn sign(self, gap: f64) -> Result<Sign> {
        let error = if self == Self::Sign { f64::INFINITY } else { gap };
        Ok(Sign::with_error(gap, error)?)
    }

    fn depth(self, sign: Sign) -> usize {
        sign.depth() + usize::from(self != Self::Sign)
    }
}

/// The largest whole number that slots are multiplied by.
const LARGEST: f64 = (1u64 << 31) as f64;
