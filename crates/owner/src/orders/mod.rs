//! The owner's orders about devices and their windows: signed, kept by the cloud, believed by devices and by the owner's other
//! computers. docs/concepts/trust.md has the attacks that they show.

mod book;
mod shown;

pub(crate) use book::{Signed, learn, sign};
pub use shown::GivenOrder;
pub(crate) use shown::given;
