//! sotto behind the lab's line protocol (`lab/engines/PROTOCOL.md`). [`Session`] does the same in process, for tests
//! that also need the plan.

mod compare;
mod conventional;
mod emulation;
mod engine;
mod error;
mod exchange;
mod measure;
mod packing;
mod partial;
mod session;
mod spoken;
mod translate;
mod windows;

pub use emulation::{Emulator, Mode};
pub use engine::Engine;
pub use error::EngineError;
pub use session::Session;
pub use spoken::{Said, Spoken};
pub use translate::{Translated, translate};
