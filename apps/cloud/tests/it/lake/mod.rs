//! `sotto-lake` on stores of this cloud: its sums are the cloud's, bit for bit, and open. `SOTTO_LAKE` names the program, which is
//! built apart (`cargo ci scaleout`); without it these tests do nothing.

mod buckets;
mod current;
mod faults;
mod handed_over;
mod pruning;
mod site;
mod sums;
mod workers;
