//! The lake on stores that a cloud made of windows of devices: its sums are the cloud's, bit for bit, and open.

#![allow(clippy::unwrap_used)]

mod current;
mod faults;
mod pruning;
mod site;
mod sums;
mod workers;
