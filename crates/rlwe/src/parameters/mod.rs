//! Parameters: what they are, which are secure, which are the defaults.

mod chain;
mod identity;
mod params;
mod security;
mod spec;

pub use chain::DefaultChain;
pub use identity::{KeyId, ParameterId, SchemeId};
pub(crate) use params::DigitTables;
pub use params::{Params, Security};
pub use security::largest_modulus_bits;
pub use spec::{ParameterSpec, XOF_AES128_CTR};
