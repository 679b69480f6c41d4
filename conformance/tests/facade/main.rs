//! `sotto-he` against arithmetic in the clear, by its public interface: random expressions, lengths, refusals, bytes.
//! They are compiled at the level of this package, as the loops of the arithmetic are not generic.
#![allow(clippy::unwrap_used)]

mod bounds;
mod comparisons;
mod dot;
mod expressions;
mod lengths;
mod moments;
mod offset;
mod readme;
mod refusals;
mod select;
mod side_by_side;
mod sums;
mod tables;
mod travel;
mod watch;
mod weighted;
mod zeros;
