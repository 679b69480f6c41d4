//! The facade against arithmetic in the clear: random expressions, lengths, refusals, bytes.

mod comparisons;
mod dot;
mod expressions;
mod lengths;
mod moments;
mod readme;
mod refusals;
mod select;
mod tables;
mod travel;
mod watch;
mod weighted;
