//! The schemes. Each has a folder of its own: its encoding and products (`mod`), its rules of noise (`noise`) and of
//! levels (`levels`). docs/concepts/a-new-scheme.md tells what a new one takes.

mod bfv;
mod bgv;
mod ckks;
mod integer;
mod lean;

pub use bfv::Bfv;
pub use bgv::Bgv;
pub use ckks::{Ckks, ScalePower};

/// Evaluates an expression for the scheme of a [`SchemeId`](crate::SchemeId): where bytes choose the scheme. Inside the
/// expression the given name is the scheme's type.
///
/// ```
/// use sotto_rlwe::{DefaultChain, Params, SchemeId, with_scheme};
///
/// let spec = DefaultChain::spec(SchemeId::Ckks, 4096, 0)?;
/// let top = with_scheme!(spec.scheme, S => Params::<S>::new(spec)?.top_level());
/// assert_eq!(top, 1);
/// # Ok::<(), sotto_rlwe::ParameterError>(())
/// ```
#[macro_export]
macro_rules! with_scheme {
    ($id:expr, $scheme:ident => $result:expr) => {
        match $id {
            $crate::SchemeId::Bfv => {
                type $scheme = $crate::Bfv;
                $result
            }
            $crate::SchemeId::Bgv => {
                type $scheme = $crate::Bgv;
                $result
            }
            $crate::SchemeId::Ckks => {
                type $scheme = $crate::Ckks;
                $result
            }
        }
    };
}

pub(crate) use with_scheme;

/// Like [`with_scheme!`](crate::with_scheme) for the schemes of integers, as an Option: None for another scheme.
///
/// ```
/// use sotto_rlwe::{Scheme, SchemeId, with_exact_scheme};
///
/// fn zero<S: Scheme<Value = i64>>() -> i64 {
///     S::Value::default()
/// }
/// assert_eq!(with_exact_scheme!(SchemeId::Bgv, S => zero::<S>()), Some(0));
/// assert_eq!(with_exact_scheme!(SchemeId::Ckks, S => zero::<S>()), None);
/// ```
#[macro_export]
macro_rules! with_exact_scheme {
    ($id:expr, $scheme:ident => $result:expr) => {
        match $id {
            $crate::SchemeId::Bfv => {
                type $scheme = $crate::Bfv;
                Some($result)
            }
            $crate::SchemeId::Bgv => {
                type $scheme = $crate::Bgv;
                Some($result)
            }
            $crate::SchemeId::Ckks => None,
        }
    };
}

/// Calls a macro with the types of all schemes: for code that is compiled once for each.
///
/// ```
/// use sotto_rlwe::{Scheme, for_each_scheme};
///
/// trait Named {
///     const NAME: &'static str;
/// }
/// macro_rules! named {
///     ($($scheme:ty),*) => {$(
///         impl Named for $scheme {
///             const NAME: &'static str = stringify!($scheme);
///         }
///     )*};
/// }
/// for_each_scheme!(named);
/// assert!(sotto_rlwe::Bgv::NAME.ends_with("Bgv"));
/// ```
#[macro_export]
macro_rules! for_each_scheme {
    ($callback:ident) => {
        $callback!($crate::Bfv, $crate::Bgv, $crate::Ckks);
    };
}
