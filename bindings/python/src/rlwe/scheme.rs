//! One object of three schemes, and calls of the same generic code for each.

use sotto_rlwe::{
    Addend, Bfv, Bgv, Ckks, EvaluationKeys, Evaluator, Multiplier, Params, Plaintext, PublicKey, Shape,
};

/// An object of BFV, BGV or CKKS.
pub(crate) enum Of<F, G, C> {
    Bfv(F),
    Bgv(G),
    Ckks(C),
}

/// Names a type that is generic in the scheme for all three.
macro_rules! of {
    ($type:ident) => {
        Of<$type<Bfv>, $type<Bgv>, $type<Ckks>>
    };
}
pub(crate) use of;

pub(crate) type AnyParams = of!(Params);
pub(crate) type AnyPlaintext = of!(Plaintext);
pub(crate) type AnyPublicKey = of!(PublicKey);
pub(crate) type AnyEvaluationKeys = of!(EvaluationKeys);
pub(crate) type AnyEvaluator = of!(Evaluator);
pub(crate) type AnyAddend = of!(Addend);
pub(crate) type AnyMultiplier = of!(Multiplier);
pub(crate) type AnyShape = of!(Shape);

/// Evaluates an expression for whichever scheme it is.
macro_rules! each {
    ($on:expr, $x:pat => $result:expr) => {
        match $on {
            Of::Bfv($x) => $result,
            Of::Bgv($x) => $result,
            Of::Ckks($x) => $result,
        }
    };
}
pub(crate) use each;

/// Like `each`, and wraps the result for the same scheme.
macro_rules! mapped {
    ($on:expr, $x:pat => $result:expr) => {
        match $on {
            Of::Bfv($x) => Of::Bfv($result),
            Of::Bgv($x) => Of::Bgv($result),
            Of::Ckks($x) => Of::Ckks($result),
        }
    };
}
pub(crate) use mapped;

/// Like `mapped` for an expression that may fail.
macro_rules! tried {
    ($on:expr, $x:pat => $result:expr) => {
        match $on {
            Of::Bfv($x) => $result.map(Of::Bfv),
            Of::Bgv($x) => $result.map(Of::Bgv),
            Of::Ckks($x) => $result.map(Of::Ckks),
        }
    };
}
pub(crate) use tried;

/// Like `tried` for two objects. Refuses those of different schemes.
macro_rules! tried_both {
    (($left:expr, $right:expr), ($x:pat, $y:pat) => $result:expr) => {
        match ($left, $right) {
            (Of::Bfv($x), Of::Bfv($y)) => Some($result.map(Of::Bfv)),
            (Of::Bgv($x), Of::Bgv($y)) => Some($result.map(Of::Bgv)),
            (Of::Ckks($x), Of::Ckks($y)) => Some($result.map(Of::Ckks)),
            _ => None,
        }
    };
}
pub(crate) use tried_both;

/// Evaluates an expression for two objects of one scheme; None for different schemes.
macro_rules! both {
    (($left:expr, $right:expr), ($x:pat, $y:pat) => $result:expr) => {
        match ($left, $right) {
            (Of::Bfv($x), Of::Bfv($y)) => Some($result),
            (Of::Bgv($x), Of::Bgv($y)) => Some($result),
            (Of::Ckks($x), Of::Ckks($y)) => Some($result),
            _ => None,
        }
    };
}
pub(crate) use both;

impl Clone for AnyParams {
    fn clone(&self) -> Self {
        mapped!(self, params => params.clone())
    }
}

impl PartialEq for AnyParams {
    fn eq(&self, other: &Self) -> bool {
        both!((self, other), (a, b) => a == b).unwrap_or(false)
    }
}
