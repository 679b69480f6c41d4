//! The owner's orders about devices and their windows: signed, kept by the cloud, believed by devices and by the owner's other
//! computers. docs/concepts/trust.md has the attacks that they show.

mod book;
mod once;
mod shown;
mod unknown;

pub(crate) use book::{Learnt, Signed, learn, sign};
pub(crate) use once::Orders;
pub use shown::GivenOrder;
pub(crate) use shown::given;
pub use unknown::UnknownOrders;
pub(crate) use unknown::{notes, unknown};
