//! Every decoder of bytes from outside as a plain function: a [`Target`].
//!
//! A target is handed any bytes. It must neither panic nor hold more memory than it says, and what it accepts it must write
//! again as it was, be able to compute on, or show. Three programs run the targets: the tests of this crate (the corpus, and
//! deterministic mutations of it, on stable Rust: `cargo ci fuzz`), `fuzz/libfuzzer` (coverage-guided, `cargo ci fuzz-deep`),
//! and the program `corpus`, which writes the first inputs to `fuzz/corpus`.

mod corpus;
mod framing;
mod mutate;
mod targets;

pub use corpus::{corpus, corpus_folder};
pub use framing::resealed;
pub use mutate::{Mutation, Mutator};
pub use targets::{Inputs, Target, target, targets};
