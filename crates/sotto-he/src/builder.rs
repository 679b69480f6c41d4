//! The choice of parameters: by depth, by a degree, or by a dry run of the whole computation.

use core::cell::Cell;
use core::marker::PhantomData;
use core::ops::RangeInclusive;

use sotto_circuits::Table;
use sotto_rlwe::{DefaultChain, ParameterSpec, Params};

use crate::context::Context;
use crate::encrypted::Encrypted;
use crate::error::{Error, Result};
use crate::scheme::Arithmetic;

/// The bound on inputs that holds unless another is declared.
const VALUES_WITHIN: f64 = 1000.0;
/// The bound on whole-number results that holds unless another is declared.
const RESULTS_WITHIN: f64 = 1e10;
/// More products than any default parameters allow.
const DEEPEST: usize = 64;
/// Below this degree no default chain can relinearise.
const LEAST_DEGREE: usize = 4096;

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
    error_within: f64,
    scheme: PhantomData<S>,
}

impl<S> Default for ContextBuilder<S> {
    fn default() -> Self {
        Self {
            depth: 3,
            degree: None,
            values_within: VALUES_WITHIN,
            public_inputs: false,
            range: None,
            results_within: None,
            error_within: f64::INFINITY,
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
    /// Sets the number of consecutive products that [`build`](ContextBuilder::build) makes room for. Default: 3.
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

    /// Real numbers: the largest [`Plan::error_bound`](crate::Plan::error_bound) that [`build_for`](ContextBuilder::build_for) accepts; any unless
    /// given. No answer of the computation is off by more.
    #[must_use]
    pub fn error_within(mut self, bound: f64) -> Self {
        self.error_within = bound;
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
        self.smallest(results, |context| if self.degree.is_some() { Ok(0) } else { context.takes(depth) })
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
        let least = Cell::new(f64::INFINITY);
        loop {
            let found = self.smallest(results, |context| {
                let plan = context.plan(lengths, &computation)?;
                let (possible, asked) = (plan.error_bound(), self.error_within);
                if possible > asked {
                    least.set(possible.min(least.get()));
                    let reason = format!("an error of {possible:.1e} is possible, {asked:.1e} is asked");
                    return Err(Error::Depth { degree: context.params().degree(), reason });
                }
                Ok(plan.levels_left())
            });
            match found {
                // The largest parameters, which were tried last, are not the most precise ones.
                Err(Error::NoParameters { scheme, .. }) if least.get().is_finite() => {
                    let (least, asked) = (least.get(), self.error_within);
                    let reason =
                        format!("the least error bound of any is {least:.1e}, and {asked:.1e} is asked");
                    return Err(Error::NoParameters { scheme, reason });
                }
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

    /// Returns the smallest degree that passes; there the most precise chain, with no more levels than are used. `accepts`
    /// returns the levels that are left.
    fn smallest(&self, results: f64, accepts: impl Fn(&Context<S>) -> Result<usize>) -> Result<Context<S>> {
        if let Some(degree) = self.degree {
            let plain_modulus = plain_modulus::<S>(results, degree)?;
            let context = self.context(&Params::default_chain(degree, plain_modulus)?)?;
            accepts(&context)?;
            return Ok(context);
        }
        let mut reason = String::from("there is none");
        let degrees = DefaultChain::all(S::ID).iter().map(|chain| chain.degree);
        for degree in degrees.filter(|degree| *degree >= LEAST_DEGREE) {
            let plain_modulus = plain_modulus::<S>(results, degree)?;
            for spec in S::chains_for(degree, plain_modulus, self.range.is_some()) {
                match self.attempt(&spec, &accepts) {
                    Ok((context, 0)) => return Ok(context),
                    Ok((context, left)) => {
                        // Fewer levels make everything faster and smaller.
                        let (bits, levels) = (spec.plain, spec.data.len() - 1 - left);
                        let mut fewer = S::chains(degree, plain_modulus, Some((bits, levels)));
                        let shorter = fewer.find_map(|spec| self.attempt(&spec, &accepts).ok());
                        return Ok(shorter.map_or(context, |(context, _)| context));
                    }
                    Err(error) if error.is_room() => reason = inner(error),
                    Err(error) => return Err(error),
                }
            }
        }
        Err(Error::NoParameters { scheme: S::ID, reason })
    }

    fn context(&self, params: &Params<S>) -> Result<Context<S>> {
        Context::with_inputs(params, self.values_within, self.public_inputs, self.range)
    }

    fn attempt(
        &self,
        spec: &ParameterSpec,
        accepts: impl Fn(&Context<S>) -> Result<usize>,
    ) -> Result<(Context<S>, usize)> {
        let context = self.context(&Params::new(spec.clone())?)?;
        let left = accepts(&context)?;
        Ok((context, left))
    }
}

fn plain_modulus<S: Arithmetic>(results: f64, degree: usize) -> Result<u64> {
    S::plain_modulus(results, degree).ok_or_else(|| Error::NoParameters {
        scheme: S::ID,
        reason: format!(
            "a result may be as large as {results:.1e}, and whole numbers are told apart up to 1.4e17"
        ),
    })
}

fn inner(error: Error) -> String {
    match error {
        Error::Depth { degree, reason } => format!("at n = {degree}, {reason}"),
        other => other.to_string(),
    }
}
