//! Names of schemes, parameters and keys.

use core::fmt;

/// A scheme.
///
/// ```
/// use sotto_rlwe::SchemeId;
///
/// assert_eq!(SchemeId::from_number(2), Some(SchemeId::Ckks));
/// assert_eq!((SchemeId::Ckks.name(), SchemeId::Ckks.to_string()), ("ckks", "CKKS".to_owned()));
/// assert_eq!(SchemeId::from_number(4), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum SchemeId {
    /// Brakerski, Fan and Vercauteren: integers modulo t, message in the high bits.
    Bfv = 1,
    /// Cheon, Kim, Kim and Song: real and complex numbers, approximate.
    Ckks = 2,
    /// Brakerski, Gentry and Vaikuntanathan: integers modulo t, message in the low bits.
    Bgv = 3,
}

impl SchemeId {
    /// All schemes.
    pub const ALL: [Self; 3] = [Self::Bfv, Self::Bgv, Self::Ckks];

    /// Returns the scheme of a number on the wire, or None if there is none.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| *scheme as u8 == number)
    }

    /// Returns true for integers modulo t, false for real numbers.
    pub fn is_exact(self) -> bool {
        !matches!(self, Self::Ckks)
    }

    /// Returns the short name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bfv => "bfv",
            Self::Ckks => "ckks",
            Self::Bgv => "bgv",
        }
    }

    /// Returns the name in capitals.
    pub fn title(self) -> &'static str {
        match self {
            Self::Bfv => "BFV",
            Self::Ckks => "CKKS",
            Self::Bgv => "BGV",
        }
    }
}

impl fmt::Display for SchemeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

/// The identity of a parameter set: a BLAKE3 hash of everything that keys and bytes depend on.
///
/// ```
/// use sotto_rlwe::{Bfv, ParameterId, Params};
///
/// let device = Params::<Bfv>::default_chain(4096, 65_537)?;
/// let cloud = Params::<Bfv>::default_chain(4096, 65_537)?;
/// let id: ParameterId = device.id();
/// assert_eq!(id, cloud.id());
/// assert_ne!(id, Params::<Bfv>::default_chain(4096, 40_961)?.id());
/// # Ok::<(), sotto_rlwe::ParameterError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParameterId(pub [u8; 32]);

/// The identity of a secret key; public.
///
/// ```
/// use sotto_rlwe::KeyId;
///
/// assert_eq!(KeyId([0xab; 16]).to_string(), "ab".repeat(16));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub [u8; 16]);

fn hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|b| write!(f, "{b:02x}"))
}

macro_rules! shown_in_hex {
    ($($name:ident),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                hex(f, &self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
    )*};
}
shown_in_hex!(ParameterId, KeyId);
