//! Worked examples, each a program: `cargo run --release --example integers_bfv`. Each checks its own answer and fails
//! if it is wrong; `cargo ci` runs them all.
