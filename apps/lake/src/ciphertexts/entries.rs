//! What the rows of ciphertexts of a plan share.

use serde::{Deserialize, Serialize};

/// The entries that rows of ciphertexts name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entries {
    pub(super) streams: Vec<(String, String)>,
    pub(super) settings: Vec<String>,
    pub(super) headers: Vec<String>,
}
