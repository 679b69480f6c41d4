//! The choice of parameters: by depth, by a degree, or by a dry run of the whole computation.

mod search;

use core::marker::PhantomData;
use core::ops::RangeInclusive;

use sotto_circuits::Table;

use crate::context::Context;
use crate::encrypted::Encrypted;
use crate::error::{Error, Result};
use crate::scheme::Arithmetic;
use search::Accuracy;

/// The bound on inputs that holds unless another is declared.
const VALUES_WITHIN: f64 = 1000.0;
/// The bound on whole-number results that holds unless another is declared.
const RESULTS_WITHIN: f64 = 1e10;
/// More products than any default parameters allow.
const DEEPEST: usize = 64;

/// A choice of parameters: bounds first, then [`build`](ContextBuilder::build) or
/// [`build_for`](ContextBuilder::build_for).
///
/// ```
/// use sotto::{Bfv, Context};
///
/// // Meter readings up to 9999 kWh, a year of hours, and their sum of squares.
/// let context = Context::<Bfv>::builder().values_within(9999.0).build_for(&[8760], |x| (&x[0] * &x[0])?.sum())?;
/// let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
/// let readings = vec![9999; 8760];
/// let x = secret.encrypt(&readings)?;
/// assert_eq!(secret.decrypt(&(&x * &x)?.sum()?)?.value(), 8760 * 9999 * 9999);
/// # Ok::<(), sotto::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ContextBuilder<S> {
    depth: usize,
    degree: Option<usize>,
    values_within: f64,
    public_inputs: bool,
    range: Option<(i64, i64)>,
    results_within: Option<f64>,
    error_within: Option<Accuracy>,
    scale: Option<u32>,
    scheme: PhantomData<S>,
}

impl<S> Default for ContextBuilder<S> {
    fn default() -> Self {
        Self {
            depth: 2,
            degree: None,
            values_within: VALUES_WITHIN,
            public_inputs: false,
            range: None,
            results_within: None,
            error_within: None,
            scale: None,
            scheme: PhantomData,
        }
    }
}

impl<S: Arithmetic> Context<S> {
    /// Chooses the smallest parameters that take `depth` products one after another and then a sum over all slots.
    ///
    /// # Errors
    /// [`Error::NoParameters`] if none do.
    pub fn for_depth(depth: usize) -> Result<Self> {
        Self::builder().depth(depth).build()
    }

    /// Takes the default chain of a degree: n = 4096, 8192, 16384, 32768 or 65536.
    ///
    /// # Errors
    /// [`Error::Parameters`] for another degree.
    pub fn with_degree(degree: usize) -> Result<Self> {
        Self::builder().degree(degree).build()
    }

    /// Starts a choice with bounds other than the defaults.
    pub fn builder() -> ContextBuilder<S> {
        ContextBuilder::default()
    }

    /// Returns the levels that are left after `depth` products and a sum.
    fn takes(&self, depth: usize) -> Result<usize> {
        let context = Self::with_inputs(self.params(), 1.0, self.0.public_inputs, None)?;
        let plan = context.plan(&[context.slots()], |x| {
            let mut power = x[0].clone();
            for _ in 0..depth {
                power = (&power * &power)?;
            }
            // Magnitudes of whole numbers are the caller's to declare.
            Ok(power.sum()?.with_magnitude(1.0))
        })?;
        Ok(plan.levels_left())
    }
}

impl<S: Arithmetic> ContextBuilder<S> {
    /// Sets the number of consecutive products that [`build`](ContextBuilder::build) makes room for. Default: 2.
    #[must_use]
    pub fn depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// Fixes the degree: 4096, 8192, 16384, 32768 or 65536.
    #[must_use]
    pub fn degree(mut self, degree: usize) -> Self {
        self.degree = Some(degree);
        self
    }

    /// Declares the largest absolute value of an input. Default: 1000. The bound is public, the values are not.
    #[must_use]
    pub fn values_within(mut self, bound: f64) -> Self {
        self.values_within = bound;
        self
    }

    /// Declares the range of whole-number inputs, both ends included, for comparisons and tables: values outside are refused
    /// when they are encrypted. The range is public. Without a computation, [`build`](ContextBuilder::build) makes room for
    /// any table of it and a sum. Real numbers ignore it.
    #[must_use]
    pub fn range(mut self, range: RangeInclusive<i64>) -> Self {
        let (first, last) = range.into_inner();
        if S::EXACT {
            self.values_within = (first.unsigned_abs().max(last.unsigned_abs()) as f64).max(1.0);
            self.range = Some((first, last));
        }
        self
    }

    /// Allows inputs that [`Public::encrypt`](crate::Public::encrypt) made, whose noise is larger: bounds on errors and the parameters follow. Without
    /// this, plans hold for inputs of [`Secret::encrypt`](crate::Secret::encrypt) alone.
    #[must_use]
    pub fn public_inputs(mut self) -> Self {
        self.public_inputs = true;
        self
    }

    /// Declares the largest absolute value of a whole-number result. Default: 10^10; at most 10^17. CKKS ignores it.
    #[must_use]
    pub fn results_within(mut self, bound: f64) -> Self {
        self.results_within = Some(bound);
        self
    }

    /// Real numbers: the largest error that is accepted, in the unit of the values. With [`build_for`](ContextBuilder::build_for)
    /// it bounds [`Plan::error_bound`](crate::Plan::error_bound): no answer of the computation is off by more. With
    /// [`build`](ContextBuilder::build) it bounds the error of a fresh value and of the mean of a full ciphertext. Default: a
    /// depth's parameters keep 30 bits of a fresh value and 24 of a mean; a computation's are the most precise of the smallest degree.
    ///
    /// ```
    /// use sotto::{Ckks, Context};
    ///
    /// // Usual parameters know a mean of temperatures to a millionth of a degree; these to a hundredth of that.
    /// let usual = Context::<Ckks>::builder().values_within(60.0).build()?;
    /// let exact = Context::<Ckks>::builder().values_within(60.0).error_within(1e-8).build()?;
    /// let mean = |context: &Context<Ckks>| Ok::<_, sotto::Error>(context.plan(&[1000], |x| x[0].mean())?.error_bound());
    /// assert!(mean(&usual)? < 1e-6 && mean(&exact)? < 1e-8);
    /// # Ok::<(), sotto::Error>(())
    /// ```
    #[must_use]
    pub fn error_within(mut self, bound: f64) -> Self {
        self.error_within = Some(Accuracy::Absolute(bound));
        self
    }

    /// Like [`error_within`](ContextBuilder::error_within), as a share of the largest absolute value that the result may have:
    /// 1e-6 is a millionth.
    #[must_use]
    pub fn relative_error_within(mut self, share: f64) -> Self {
        self.error_within = Some(Accuracy::Relative(share));
        self
    }

    /// Real numbers, with a [`degree`](ContextBuilder::degree): fixes the bits of the scale. The chain then has one level for each
    /// product of the depth. More bits are more precise, and leave room for fewer levels.
    #[must_use]
    pub fn scale(mut self, bits: u32) -> Self {
        self.scale = Some(bits);
        self
    }

    /// Chooses the smallest parameters for the depth.
    ///
    /// # Errors
    /// [`Error::NoParameters`] if none do, [`Error::Parameters`] for a degree without a default chain.
    pub fn build(self) -> Result<Context<S>> {
        if let Some((first, last)) = self.range {
            // A table without a symmetry, which would make it cheaper.
            let table = Table::from_fn(first..=last, |x| i64::from(x == first))?;
            return self.build_for(&[1 << 13], |x| x[0].looked_up(&table)?.sum());
        }
        let results = self.results_within.unwrap_or(RESULTS_WITHIN).max(self.values_within);
        let depth = self.depth.min(DEEPEST);
        if self.degree.is_some() {
            return self.smallest(results, |_| Ok(0));
        }
        let Some(asked) = self.error_within.filter(|_| !S::EXACT) else {
            return match S::chains_by_depth(depth) {
                Some(chains) => self.first_of(chains, |context| context.takes(depth)),
                None => self.smallest(results, |context| context.takes(depth)),
            };
        };
        let asked = asked.of(self.values_within);
        self.precise(|least| {
            self.smallest(results, |context| {
                let left = context.takes(depth)?;
                let slots = [context.slots()];
                let fresh = context.plan(&slots, |x| Ok(x[0].clone()))?.error_bound();
                let mean = context.plan(&slots, |x| x[0].sum())?.error_bound() / context.slots() as f64;
                least.accept(fresh.max(mean), asked, context)?;
                Ok(left)
            })
        })
    }

    /// Chooses the smallest parameters on which a dry run of the computation succeeds.
    ///
    /// # Errors
    /// [`Error::NoParameters`] if none do; the computation's own errors that no parameters remedy.
    pub fn build_for(
        self,
        lengths: &[usize],
        computation: impl Fn(&[Encrypted<S>]) -> Result<Encrypted<S>>,
    ) -> Result<Context<S>> {
        let mut results = self.results_within.unwrap_or(self.values_within);
        loop {
            let found = self.precise(|least| {
                self.smallest(results, |context| {
                    let plan = context.plan(lengths, &computation)?;
                    if let Some(asked) = self.error_within {
                        least.accept(plan.error_bound(), asked.of(plan.magnitude()), context)?;
                    }
                    Ok(plan.levels_left())
                })
            });
            match found {
                // The plain modulus follows from the bound on the result.
                Err(Error::Wraps { magnitude, .. })
                    if self.results_within.is_none() && magnitude > results =>
                {
                    results = magnitude;
                }
                found => return found,
            }
        }
    }
}
