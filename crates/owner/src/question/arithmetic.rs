//! Arithmetic on the values of an expression's calls.

use super::{Along, Offset, Priced};
use crate::functions::Call;

/// Arithmetic on the caller's value type, e.g. a value with its bound and unit. Used by [`Expression::fold`](crate::question::Expression::fold).
///
/// ```
/// use sotto_owner::question::{Along, CallArithmetic, Call, Offset, Priced};
/// use std::convert::Infallible;
///
/// /// Decrypted means by channel; here the same for all.
/// struct Answers(f64);
/// impl CallArithmetic for Answers {
///     type Value = f64;
///     type Error = Infallible;
///     fn number(&mut self, number: f64) -> Result<f64, Infallible> { Ok(number) }
///     fn call(&mut self, _: &Call) -> Result<f64, Infallible> { Ok(self.0) }
///     fn along(&mut self, _: &Along) -> Result<f64, Infallible> { Ok(self.0) }
///     fn offset(&mut self, _: &Offset) -> Result<f64, Infallible> { Ok(self.0) }
///     fn priced(&mut self, _: &Priced) -> Result<f64, Infallible> { Ok(self.0) }
///     fn negate(&mut self, of: f64) -> Result<f64, Infallible> { Ok(-of) }
///     fn add(&mut self, left: f64, right: f64) -> Result<f64, Infallible> { Ok(left + right) }
///     fn subtract(&mut self, left: f64, right: f64) -> Result<f64, Infallible> { Ok(left - right) }
///     fn multiply(&mut self, left: f64, right: f64) -> Result<f64, Infallible> { Ok(left * right) }
///     fn divide(&mut self, left: f64, right: f64) -> Result<f64, Infallible> { Ok(left / right) }
/// }
///
/// let fahrenheit = Call::mean("boiler") * 1.8 + 32.0;
/// assert_eq!(fahrenheit.fold(&mut Answers(60.0)), Ok(140.0));
/// ```
pub trait CallArithmetic {
    /// The result of each step.
    type Value;
    /// The reason that stops the fold.
    type Error;
    /// Returns the value of a number.
    ///
    /// # Errors
    /// Any error stops the fold.
    fn number(&mut self, number: f64) -> Result<Self::Value, Self::Error>;
    /// Returns the value of a call. Calls come in the order of the text, each once.
    ///
    /// # Errors
    /// Any error stops the fold.
    fn call(&mut self, call: &Call) -> Result<Self::Value, Self::Error>;
    /// Returns the value of a function along groups. It comes in the place of its call.
    ///
    /// # Errors
    /// Any error stops the fold.
    fn along(&mut self, along: &Along) -> Result<Self::Value, Self::Error>;
    /// Returns the value of a call in an earlier group. It comes in the place of its call.
    ///
    /// # Errors
    /// Any error stops the fold.
    fn offset(&mut self, offset: &Offset) -> Result<Self::Value, Self::Error>;
    /// Returns the cost of a call's value. It comes in the place of its call.
    ///
    /// # Errors
    /// Any error stops the fold.
    fn priced(&mut self, priced: &Priced) -> Result<Self::Value, Self::Error>;
    /// Returns −`of`.
    ///
    /// # Errors
    /// Any error stops the fold.
    fn negate(&mut self, of: Self::Value) -> Result<Self::Value, Self::Error>;
    /// Returns `left` + `right`.
    ///
    /// # Errors
    /// Any error stops the fold.
    fn add(&mut self, left: Self::Value, right: Self::Value) -> Result<Self::Value, Self::Error>;
    /// Returns `left` − `right`.
    ///
    /// # Errors
    /// Any error stops the fold.
    fn subtract(&mut self, left: Self::Value, right: Self::Value) -> Result<Self::Value, Self::Error>;
    /// Returns `left` · `right`.
    ///
    /// # Errors
    /// Any error stops the fold.
    fn multiply(&mut self, left: Self::Value, right: Self::Value) -> Result<Self::Value, Self::Error>;
    /// Returns `left` / `right`.
    ///
    /// # Errors
    /// Any error stops the fold, e.g. a divisor of zero.
    fn divide(&mut self, left: Self::Value, right: Self::Value) -> Result<Self::Value, Self::Error>;
}
