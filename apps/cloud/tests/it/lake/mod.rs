//! `sotto-lake` on stores of this cloud: its sums and the outputs of plans are the cloud's, bit for bit, and open. `SOTTO_LAKE`
//! names the program, which is built apart (`cargo ci scaleout`); without it these tests do nothing.

mod buckets;
mod ciphertexts;
mod current;
mod faults;
mod handed_over;
mod pruning;
mod query;
mod site;
mod sums;
mod workers;
