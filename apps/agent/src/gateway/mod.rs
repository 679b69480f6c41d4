//! The gateway: one agent that takes readings of many devices from senders that cannot encrypt, and encrypts for them.
//!
//! A listener (`http`, `udp`) makes [points](Point) of a request and hands them to an [`Intake`]. That finds the device and the
//! channel of each field (`route`), adds rows to the next batch of the `journal` and answers once the batch is durable. The
//! rows then go to their device, which fills windows and puts them into its spool as any device does; a few threads drive all
//! devices (`drive`). A device that cannot take its rows now reads them from the journal later (`catch_up`).

mod bounded;
mod catch_up;
mod collect;
mod devices;
mod drive;
mod folder;
mod http;
mod intake;
mod journal;
mod lines;
mod mapping;
mod member;
mod point;
mod route;
mod rows;
mod run;
mod scheduler;
mod source;
mod staging;
mod status;
mod tally;
mod target;
mod turn;
mod udp;

pub use crate::source::Value;
pub use collect::ModbusFile;
pub use devices::{Gateway, Options, Threads};
pub use lines::{LinesError, LinesTaken, Precision, take_lines};
pub use point::{Intake, IntakeError, Point, Taken};
pub use run::{check, run};
pub(crate) use status::show;
