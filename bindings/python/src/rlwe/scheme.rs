//! Objects of whichever scheme.

use sotto_rlwe::{
    Addend, EvaluationKeys, Evaluator, Multiplier, Params, Plaintext, PublicKey, Shape, of_any_scheme,
};

pub(crate) type AnyParams = of_any_scheme!(Params);
pub(crate) type AnyPlaintext = of_any_scheme!(Plaintext);
pub(crate) type AnyPublicKey = of_any_scheme!(PublicKey);
pub(crate) type AnyEvaluationKeys = of_any_scheme!(EvaluationKeys);
pub(crate) type AnyEvaluator = of_any_scheme!(Evaluator);
pub(crate) type AnyAddend = of_any_scheme!(Addend);
pub(crate) type AnyMultiplier = of_any_scheme!(Multiplier);
pub(crate) type AnyShape = of_any_scheme!(Shape);
