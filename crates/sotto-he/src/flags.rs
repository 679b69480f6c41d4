//! Encrypted flags, their decryption, and their plan.

use core::fmt;

use sotto_circuits::SignBound;
use sotto_decrypt::rounded_error;
use sotto_rlwe::Ckks;

use crate::answer::Answer;
use crate::context::Context;
use crate::encrypted::Encrypted;
use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::secret::Secret;

/// The answer of a comparison to one value.
///
/// ```
/// use sotto::Flag;
///
/// let flags = [Flag::Yes, Flag::Undecided, Flag::No];
/// let alarm = flags.iter().filter(|flag| **flag == Flag::Yes).count();
/// let at_most = flags.iter().filter(|flag| **flag != Flag::No).count();
/// assert_eq!((alarm, at_most), (1, 2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flag {
    /// The value is greater (or less, as was asked). Never wrong.
    Yes,
    /// It is not. Never wrong.
    No,
    /// It is too near to the limit: within the gap.
    Undecided,
}

/// Encrypted flags, one for each value: [`Encrypted::greater_than`]. Each is a number, about 1 for yes and 0 for no.
///
/// ```
/// use sotto::{Ckks, Context, Encrypted, Flag};
///
/// let hot = |x: &[Encrypted<Ckks>]| x[0].greater_than(80.0, 1.0 / 16.0)?.for_answer();
/// let context = Context::<Ckks>::builder().values_within(128.0).build_for(&[3], |x| Ok(hot(x)?.into_vector()))?;
///
/// // The owner plans, the cloud compares bytes, the owner decrypts by the plan.
/// let plan = context.plan_flags(&[3], hot)?;
/// let (secret, public) = context.keys_for(plan.plan(), &mut sotto::secure_rng()?)?;
/// let sent = secret.encrypt_to_bytes(&[100.0, 79.9, 20.0])?;
/// let bytes = hot(&[public.read(&sent)?])?.into_vector().to_bytes()?;
/// assert_eq!(secret.decrypt_flags_answer(&bytes, &plan)?, [Flag::Yes, Flag::Undecided, Flag::No]);
/// # Ok::<(), sotto::Error>(())
/// ```
#[derive(Clone)]
pub struct Flags {
    vector: Encrypted<Ckks>,
    bound: SignBound,
    range: f64,
}

impl Flags {
    pub(crate) fn new(vector: Encrypted<Ckks>, bound: SignBound, range: f64) -> Self {
        Self { vector, bound, range }
    }

    /// Returns the number of flags.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.vector.len()
    }

    /// Returns the least distance from the limit at which no flag is undecided, in the unit of the values.
    pub fn gap(&self) -> f64 {
        self.bound.gap * self.range
    }

    /// Returns a bound on the distance from 0 or 1 after decryption, for values that are at least the gap away from the
    /// limit.
    pub fn error(&self) -> f64 {
        stated(&self.bound, self.decrypted_error())
    }

    /// Returns the flags as numbers between 0 and 1, to go on computing: their error bound is that of the noise, to which
    /// [`error`](Flags::error) adds the approximation.
    pub fn vector(&self) -> &Encrypted<Ckks> {
        &self.vector
    }

    /// Like [`vector`](Flags::vector), by value.
    pub fn into_vector(self) -> Encrypted<Ckks> {
        self.vector
    }

    /// Drops the primes that decryption does not need: [`Encrypted::for_answer`].
    ///
    /// # Errors
    /// As [`Encrypted::for_answer`].
    pub fn for_answer(&self) -> Result<Self> {
        Ok(Self { vector: self.vector.for_answer()?, ..self.clone() })
    }

    /// The distance between the largest number that counts as no and the least that counts as yes, less the noise of both.
    pub(crate) fn between(&self) -> f64 {
        let error = self.decrypted_error();
        1.0 - 2.0 * (stated(&self.bound, error) + error)
    }

    /// The error bound of a decrypted number, rounding included.
    fn decrypted_error(&self) -> f64 {
        rounded_error(self.vector.largest_error())
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Flags({:?}, gap {}, error {:.1e})", self.vector, self.gap(), self.error())
    }
}

/// A bound on the distance of a decrypted number from 0 or 1, outside of the gap. Steps after the comparison, decryption
/// and rounding add the growth of the noise bound.
fn stated(bound: &SignBound, decrypted_error: f64) -> f64 {
    bound.error + (decrypted_error - bound.noise).max(0.0)
}

/// Reads the flags off decrypted numbers. A number of at least 1 − error is a yes. Error and noise together are below 1/2,
/// so in exact arithmetic that number is above 1/2, and the value above the limit.
fn read(answer: &Answer<Ckks>, bound: &SignBound) -> Result<Vec<Flag>> {
    let error = stated(bound, answer.bound());
    if error + answer.bound() >= 0.5 {
        return Err(Error::Unplanned("the flags' noise does not let them be told apart".into()));
    }
    let flag = |value: &f64| match *value {
        yes if yes >= 1.0 - error => Flag::Yes,
        no if no <= error => Flag::No,
        _ => Flag::Undecided,
    };
    Ok(answer.values().iter().map(flag).collect())
}

/// The plan of a computation that ends with flags: [`Context::plan_flags`].
///
/// Example: [`Flags`]
#[derive(Debug)]
pub struct FlagPlan {
    plan: Plan<Ckks>,
    bound: SignBound,
    gap: f64,
    error: f64,
}

impl FlagPlan {
    /// Returns the plan: keys, bytes, work.
    pub fn plan(&self) -> &Plan<Ckks> {
        &self.plan
    }

    /// Returns the least distance that is told, as [`Flags::gap`].
    pub fn gap(&self) -> f64 {
        self.gap
    }

    /// Returns the bound on a flag, as [`Flags::error`].
    pub fn error(&self) -> f64 {
        self.error
    }
}

impl fmt::Display for FlagPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.plan)?;
        write!(
            f,
            "flags       undecided within {} of the limit, else within {:.1e} of 0 or 1",
            self.gap, self.error
        )
    }
}

impl Context<Ckks> {
    /// Runs a computation that ends with flags dry: see [`Context::plan`].
    ///
    /// # Errors
    /// As [`Context::plan`].
    pub fn plan_flags(
        &self,
        lengths: &[usize],
        computation: impl FnOnce(&[Encrypted<Ckks>]) -> Result<Flags>,
    ) -> Result<FlagPlan> {
        let mut plans = self.plan_all_flags(lengths, |inputs| Ok(vec![computation(inputs)?]))?;
        plans.pop().ok_or(Error::DryRun)
    }

    /// Like [`Context::plan_flags`] for a computation with several results: one plan for each.
    ///
    /// # Errors
    /// As [`Context::plan_all`].
    pub fn plan_all_flags(
        &self,
        lengths: &[usize],
        computation: impl FnOnce(&[Encrypted<Ckks>]) -> Result<Vec<Flags>>,
    ) -> Result<Vec<FlagPlan>> {
        let mut all = Vec::new();
        let plans = self.plan_all(lengths, |inputs| {
            all = computation(inputs)?;
            Ok(all.iter().map(|flags| flags.vector.clone()).collect())
        })?;
        let plan = |(plan, flags): (_, &Flags)| FlagPlan {
            plan,
            bound: flags.bound,
            gap: flags.gap(),
            error: flags.error(),
        };
        Ok(plans.into_iter().zip(&all).map(plan).collect())
    }
}

impl Secret<Ckks> {
    /// Decrypts flags that were computed in this process: see [`Secret::decrypt`].
    ///
    /// # Errors
    /// As [`Secret::decrypt`].
    pub fn decrypt_flags(&self, flags: &Flags) -> Result<Vec<Flag>> {
        read(&self.decrypt(&flags.vector)?, &flags.bound)
    }

    /// Decrypts flags that came as bytes, after comparing their claims with the plan: see [`Secret::decrypt_answer`].
    ///
    /// # Errors
    /// As [`Secret::decrypt_answer`].
    pub fn decrypt_flags_answer(&self, bytes: &[u8], plan: &FlagPlan) -> Result<Vec<Flag>> {
        read(&self.decrypt_answer(bytes, &plan.plan)?, &plan.bound)
    }
}
