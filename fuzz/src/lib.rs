//! Every decoder of untrusted bytes as a plain function: a [`Target`].
//!
//! A target takes any bytes. It must neither panic nor use more memory than it declares; accepted input must be written
//! again unchanged, be computed on, or be shown. Three programs run the targets: the tests of this crate (the corpus,
//! and deterministic mutations of it, on stable Rust: `cargo ci fuzz`), `fuzz/libfuzzer` (coverage-guided, `cargo ci
//! fuzz-deep`), and the program `corpus`, which writes the first inputs to `fuzz/corpus`.

mod corpus;
mod framing;
mod mutate;
mod targets;

pub use corpus::{corpus, corpus_folder};
pub use framing::resealed;
pub use mutate::{Mutation, Mutator};
pub use targets::{Inputs, Target, target, targets};
