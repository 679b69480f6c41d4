//! The facade against arithmetic in the clear: random expressions, lengths, refusals, bytes.

#![allow(clippy::unwrap_used)]

mod expressions;
mod lengths;
mod readme;
mod refusals;
mod select;
mod travel;
mod watch;
mod weighted;
