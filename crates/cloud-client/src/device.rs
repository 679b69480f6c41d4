//! Devices as their owner registers them.

use serde::{Deserialize, Serialize};

use crate::text::name;

/// Parameters and a key that a device may encrypt under.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RegisteredKey {
    /// 64 hexadecimal digits.
    #[serde(deserialize_with = "name")]
    pub parameter_id: String,
    /// 32 hexadecimal digits.
    #[serde(deserialize_with = "name")]
    pub key_id: String,
}
