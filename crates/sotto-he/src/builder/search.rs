//! The search for parameters: chains are tried in the order of their cost until a dry run succeeds.

use core::cell::Cell;

use sotto_rlwe::{DefaultChain, ParameterSpec, Params};

use super::ContextBuilder;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scheme::Arithmetic;

/// Below this degree no default chain can relinearise.
const LEAST_DEGREE: usize = 4096;

/// A bound on errors that is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Accuracy {
    /// In the unit of the values.
    Absolute(f64),
    /// As a share of the largest absolute value.
    Relative(f64),
}

impl Accuracy {
    /// Returns the bound for values within ±`magnitude`.
    pub(super) fn of(self, magnitude: f64) -> f64 {
        match self {
            Self::Absolute(bound) => bound,
            Self::Relative(share) => share * magnitude,
        }
    }
}

impl<S: Arithmetic> ContextBuilder<S> {
    /// Runs a search that refuses inexact parameters; if none is exact enough, says which bound is the least possible.
    pub(super) fn precise(&self, search: impl Fn(&Least) -> Result<Context<S>>) -> Result<Context<S>> {
        let least = Least::default();
        match search(&least) {
            // The largest parameters, which were tried last, are not the most precise ones.
            Err(Error::NoParameters { scheme, .. }) if least.bound.get().is_finite() => {
                let (bound, asked) = (least.bound.get(), least.asked.get());
                let reason = format!("the least error bound of any is {bound:.1e}, and {asked:.1e} is asked");
                Err(Error::NoParameters { scheme, reason })
            }
            found => found,
        }
    }

    /// Returns the first chain that passes.
    pub(super) fn first_of(
        &self,
        chains: impl Iterator<Item = ParameterSpec>,
        accepts: impl Fn(&Context<S>) -> Result<usize>,
    ) -> Result<Context<S>> {
        let mut reason = String::from("there is none");
        for spec in chains {
            match self.attempt(&spec, &accepts) {
                Ok((context, _)) => return Ok(context),
                Err(error) if error.is_room() => reason = inner(error),
                Err(error) => return Err(error),
            }
        }
        Err(Error::NoParameters { scheme: S::ID, reason })
    }

    /// Returns the smallest degree that passes; there the most precise chain, with no more levels than are used. `accepts`
    /// returns the levels that are left.
    pub(super) fn smallest(
        &self,
        results: f64,
        accepts: impl Fn(&Context<S>) -> Result<usize>,
    ) -> Result<Context<S>> {
        if let Some(degree) = self.degree {
            let plain_modulus = plain_modulus::<S>(results, degree)?;
            let params = match self.scale.filter(|_| !S::EXACT) {
                None => Params::default_chain(degree, plain_modulus)?,
                Some(bits) => Params::new(S::chain_of_scale(degree, bits, self.depth).ok_or_else(|| {
                    let reason = format!(
                        "no chain of n = {degree} with {} levels of {bits} bits is secure",
                        self.depth
                    );
                    Error::NoParameters { scheme: S::ID, reason }
                })?)?,
            };
            let context = self.context(&params)?;
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

/// The least error bound of the parameters that were refused, and the bound that was asked.
pub(super) struct Least {
    bound: Cell<f64>,
    asked: Cell<f64>,
}

impl Default for Least {
    fn default() -> Self {
        Self { bound: Cell::new(f64::INFINITY), asked: Cell::new(f64::INFINITY) }
    }
}

impl Least {
    /// Refuses a bound above the asked one.
    pub(super) fn accept<S: Arithmetic>(&self, bound: f64, asked: f64, context: &Context<S>) -> Result<()> {
        if bound <= asked {
            return Ok(());
        }
        if bound < self.bound.get() {
            self.bound.set(bound);
            self.asked.set(asked);
        }
        let reason = format!("an error of {bound:.1e} is possible, {asked:.1e} is asked");
        Err(Error::Depth { degree: context.params().degree(), reason })
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
