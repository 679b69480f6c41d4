//! Objects of whichever scheme, for programs that learn the scheme from bytes, and macros that write the same code for
//! each.

/// An object of BFV, BGV or CKKS. [`of_any_scheme!`](crate::of_any_scheme) names its type.
///
/// ```
/// use sotto_rlwe::{OfAnyScheme, Params, SchemeId, DefaultChain, of_any_scheme, in_any_scheme, with_any, with_same};
///
/// type AnyParams = of_any_scheme!(Params);
///
/// fn load(scheme: SchemeId) -> Result<AnyParams, sotto_rlwe::ParameterError> {
///     let spec = DefaultChain::spec(scheme, 4096, 65_537)?;
///     Ok(in_any_scheme!(scheme, S => Params::<S>::new(spec)?))
/// }
/// let (exact, real) = (load(SchemeId::Bgv)?, load(SchemeId::Ckks)?);
/// assert_eq!(with_any!(&exact, params => params.scheme()), SchemeId::Bgv);
/// // Two objects of different schemes do not meet.
/// assert!(with_same!((&exact, &exact), (a, b) => a == b).unwrap());
/// assert!(with_same!((&exact, &real), (a, b) => a == b).is_none());
/// # Ok::<(), sotto_rlwe::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfAnyScheme<F, G, C> {
    /// Of BFV.
    Bfv(F),
    /// Of BGV.
    Bgv(G),
    /// Of CKKS.
    Ckks(C),
}

impl<F, G, C> OfAnyScheme<F, G, C> {
    /// Returns the object if it is of the scheme of real numbers.
    pub fn real(&self) -> Option<&C> {
        if let Self::Ckks(object) = self { Some(object) } else { None }
    }

    /// Makes an object of the scheme of real numbers.
    pub fn of_real(object: C) -> Self {
        Self::Ckks(object)
    }
}

/// Names the type of an object of any scheme, from a type that is generic in the scheme.
///
/// Example: [`OfAnyScheme`](crate::OfAnyScheme)
#[macro_export]
macro_rules! of_any_scheme {
    ($type:ident) => {
        $crate::OfAnyScheme<$type<$crate::Bfv>, $type<$crate::Bgv>, $type<$crate::Ckks>>
    };
}

/// Like [`with_scheme!`](crate::with_scheme), and marks the result as one of that scheme.
///
/// Example: [`OfAnyScheme`](crate::OfAnyScheme)
#[macro_export]
macro_rules! in_any_scheme {
    ($id:expr, $scheme:ident => $result:expr) => {
        match $id {
            $crate::SchemeId::Bfv => {
                type $scheme = $crate::Bfv;
                $crate::OfAnyScheme::Bfv($result)
            }
            $crate::SchemeId::Bgv => {
                type $scheme = $crate::Bgv;
                $crate::OfAnyScheme::Bgv($result)
            }
            $crate::SchemeId::Ckks => {
                type $scheme = $crate::Ckks;
                $crate::OfAnyScheme::Ckks($result)
            }
        }
    };
}

/// Evaluates an expression on an object of any scheme.
///
/// Example: [`OfAnyScheme`](crate::OfAnyScheme)
#[macro_export]
macro_rules! with_any {
    ($on:expr, $object:pat => $result:expr) => {
        match $on {
            $crate::OfAnyScheme::Bfv($object) => $result,
            $crate::OfAnyScheme::Bgv($object) => $result,
            $crate::OfAnyScheme::Ckks($object) => $result,
        }
    };
}

/// Like [`with_any!`](crate::with_any), and marks the result as one of the same scheme.
///
/// ```
/// use sotto_rlwe::{Bgv, OfAnyScheme, Params, map_any, of_any_scheme};
///
/// let params: of_any_scheme!(Params) = OfAnyScheme::Bgv(Params::<Bgv>::default_chain(4096, 65_537)?);
/// let degrees = map_any!(&params, params => params.degree());
/// assert_eq!(degrees, OfAnyScheme::Bgv(4096));
/// # Ok::<(), sotto_rlwe::ParameterError>(())
/// ```
#[macro_export]
macro_rules! map_any {
    ($on:expr, $object:pat => $result:expr) => {
        match $on {
            $crate::OfAnyScheme::Bfv($object) => $crate::OfAnyScheme::Bfv($result),
            $crate::OfAnyScheme::Bgv($object) => $crate::OfAnyScheme::Bgv($result),
            $crate::OfAnyScheme::Ckks($object) => $crate::OfAnyScheme::Ckks($result),
        }
    };
}

/// Evaluates an expression on several objects of one scheme, as an Option: None if their schemes differ.
///
/// Example: [`OfAnyScheme`](crate::OfAnyScheme)
#[macro_export]
macro_rules! with_same {
    (($($on:expr),+), ($($object:pat),+) => $result:expr) => {
        match ($($on),+) {
            ($($crate::OfAnyScheme::Bfv($object)),+) => Some($result),
            ($($crate::OfAnyScheme::Bgv($object)),+) => Some($result),
            ($($crate::OfAnyScheme::Ckks($object)),+) => Some($result),
            _ => None,
        }
    };
}

/// Like [`with_same!`](crate::with_same), and marks the result as one of that scheme.
///
/// ```
/// use sotto_rlwe::{Bgv, OfAnyScheme, Origin, Params, Shape, map_same, of_any_scheme};
///
/// let exact = Params::<Bgv>::default_chain(4096, 65_537)?;
/// let shape: of_any_scheme!(Shape) = OfAnyScheme::Bgv(Shape::fresh(&exact, Origin::SecretKey, 1.0)?);
/// let params: of_any_scheme!(Params) = OfAnyScheme::Bgv(exact);
/// let lower = map_same!((&shape, &params), (shape, params) => shape.lower(params, 0)?.level);
/// assert_eq!(lower, Some(OfAnyScheme::Bgv(0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[macro_export]
macro_rules! map_same {
    (($($on:expr),+), ($($object:pat),+) => $result:expr) => {
        match ($($on),+) {
            ($($crate::OfAnyScheme::Bfv($object)),+) => Some($crate::OfAnyScheme::Bfv($result)),
            ($($crate::OfAnyScheme::Bgv($object)),+) => Some($crate::OfAnyScheme::Bgv($result)),
            ($($crate::OfAnyScheme::Ckks($object)),+) => Some($crate::OfAnyScheme::Ckks($result)),
            _ => None,
        }
    };
}

/// Like [`map_any!`](crate::map_any) for an expression that may fail: a Result.
///
/// ```
/// use sotto_rlwe::{Ckks, OfAnyScheme, Params, Scheme, of_any_scheme, try_map_any};
///
/// let params: of_any_scheme!(Params) = OfAnyScheme::Ckks(Params::<Ckks>::default_chain(4096, 0)?);
/// let again = try_map_any!(&params, params => Params::new(params.spec().clone()))?;
/// assert!(again == params);
/// # Ok::<(), sotto_rlwe::ParameterError>(())
/// ```
#[macro_export]
macro_rules! try_map_any {
    ($on:expr, $object:pat => $result:expr) => {
        match $on {
            $crate::OfAnyScheme::Bfv($object) => $result.map($crate::OfAnyScheme::Bfv),
            $crate::OfAnyScheme::Bgv($object) => $result.map($crate::OfAnyScheme::Bgv),
            $crate::OfAnyScheme::Ckks($object) => $result.map($crate::OfAnyScheme::Ckks),
        }
    };
}

/// Like [`map_same!`](crate::map_same) for an expression that may fail: an Option of a Result.
///
/// ```
/// use sotto_rlwe::{Bgv, OfAnyScheme, Origin, Params, Shape, of_any_scheme, try_map_same};
///
/// let exact = Params::<Bgv>::default_chain(4096, 65_537)?;
/// let shape: of_any_scheme!(Shape) = OfAnyScheme::Bgv(Shape::fresh(&exact, Origin::SecretKey, 1.0)?);
/// let params: of_any_scheme!(Params) = OfAnyScheme::Bgv(exact);
/// let lower = try_map_same!((&shape, &params), (shape, params) => shape.lower(params, 2));
/// assert!(lower.unwrap().is_err(), "there is no level 2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[macro_export]
macro_rules! try_map_same {
    (($($on:expr),+), ($($object:pat),+) => $result:expr) => {
        match ($($on),+) {
            ($($crate::OfAnyScheme::Bfv($object)),+) => Some($result.map($crate::OfAnyScheme::Bfv)),
            ($($crate::OfAnyScheme::Bgv($object)),+) => Some($result.map($crate::OfAnyScheme::Bgv)),
            ($($crate::OfAnyScheme::Ckks($object)),+) => Some($result.map($crate::OfAnyScheme::Ckks)),
            _ => None,
        }
    };
}
