//! The interface of the recryptor.
//!
//! ```
//! use sotto_api::recryptor::{Exchange, FetchQuota};
//! use sotto_api::{Admission, Arrived, Route};
//!
//! assert_eq!((Exchange::PATH, Exchange::ADMISSION), ("/v1/exchange", Admission::Token));
//! let body = br#"{"left": 976, "numbers_a_day": 1000, "used": 24}"#.to_vec();
//! assert_eq!(FetchQuota::read(Arrived { body, headers: Vec::new() })?.left, 976);
//! # Ok::<(), sotto_api::Unreadable>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::health::Alive;
use crate::route::route;

/// The numbers that a caller may have decrypted from midnight to midnight UTC.
///
/// Example: [`recryptor`](self)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Quota {
    /// Numbers left for today.
    pub left: u64,
    /// Numbers allowed per day.
    pub numbers_a_day: u64,
    /// Numbers decrypted today.
    pub used: u64,
}

/// A ledger that answers.
///
/// Example: [`recryptor`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = LedgerReady))]
pub struct Ready {
    /// Always `ready`.
    pub status: String,
}

impl Default for Ready {
    fn default() -> Self {
        Self { status: "ready".to_owned() }
    }
}

route! {
    /// Takes a batch's frame and returns the frame of its answers.
    Exchange: Token post "/v1/exchange", "the batch", takes frame, gives frame;
}

route! {
    /// Returns the frame of the Paillier key.
    FetchPaillierKey: Token get "/v1/keys/paillier", "the Paillier key", gives frame;
}

route! {
    /// Returns the frame of the ElGamal key; refuses with `no-elgamal-key` if there is none.
    FetchElGamalKey: Token get "/v1/keys/elgamal", "the ElGamal key", gives frame;
}

route! {
    /// Returns the numbers that the caller may still request today.
    FetchQuota: Token get "/v1/quota", "the quota", gives json Quota;
}

route! {
    /// Answers while the process runs.
    FetchHealth: Anybody get "/healthz", "the recryptor's health", gives json Alive;
}

route! {
    /// Answers if the ledger can serve requests.
    FetchReadiness: Anybody get "/readyz", "the recryptor's readiness", gives json Ready;
}
