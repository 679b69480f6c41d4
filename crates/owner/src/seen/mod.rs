//! Single windows, as the cloud sees them and as their owner does.

mod head;
mod list;
mod opened;
mod window;

pub use list::ListedWindow;
pub(crate) use list::listed;
pub(crate) use window::seen;
pub use window::{CloudSees, OwnerSees, SeenChannel, SeenReading, WindowSeen};
