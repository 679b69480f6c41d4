//! Parameters: their definition, security tables, default chains, and chains on request.

mod chain_bits;
mod default_chain;
mod double_double;
mod identity;
mod level_tables;
mod params;
mod request;
mod scale_ratio;
mod security;
mod security_check;
mod spec;

pub use chain_bits::ChainBits;
pub use default_chain::DefaultChain;
pub use double_double::DoubleDouble;
pub use identity::{KeyId, ParameterId, SchemeId};
pub(crate) use level_tables::DigitTables;
pub use params::{Params, Security};
pub use request::{ChainRequest, Digits};
pub use scale_ratio::ScaleRatio;
pub use security::{SecurityLevel, SecurityProfile, SecurityTarget, largest_modulus_bits};
pub use spec::{ParameterSpec, XOF_AES128_CTR};
