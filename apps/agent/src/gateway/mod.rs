//! The gateway: one agent that takes readings of many devices from senders that cannot encrypt, and encrypts for them.

mod point;

pub use point::{Intake, IntakeError, Point, Taken, Value};
