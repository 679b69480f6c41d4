//! What clients of the services share: the addresses that they accept, the certificates that they trust, requests with
//! limits on time and size, and the reading of refusals and failures.
//!
//! ```no_run
//! use sotto_api::health::FetchHealth;
//! use sotto_http::{Address, Limits, Request, Site, Trust};
//!
//! let address = Address::new("https://farm.example:7410")?;
//! let site = Site::new(address, Trust::default(), &Limits::default());
//! let answer = site.send(&Request::to::<FetchHealth>([], &(), &()))?;
//! if answer.is_success() {
//!     assert_eq!(answer.read::<FetchHealth>()?.status, "alive");
//! } else {
//!     println!("it refuses: {}", answer.problem().detail);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Trust`] also explains failed connections and names a remedy.

mod address;
mod answer;
mod failure;
mod request;
mod site;
mod trust;

pub use address::{Address, NotAnAddress, is_loopback};
pub use answer::Received;
pub use failure::{Cause, Failure};
pub use request::Request;
pub use site::{Limits, NotAToken, Site};
pub use trust::{LARGEST_AUTHORITY, NotAnAuthority, Trust, is_host};
