//! The tests of `sotto-rlwe` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod chain_requests;
mod encodings;
mod hostile_parameters;
mod injection;
#[allow(unreachable_pub, reason = "examples of documentation include it")]
mod owner;
mod plain_operands;
mod security_cells;
mod toy_scheme;

/// docs/concepts/a-new-scheme.md shows the toy scheme, whole, in fewer than 150 lines.
#[test]
fn the_page_has_the_toy_scheme() {
    let (page, toy) =
        (include_str!("../../../../docs/concepts/a-new-scheme.md"), include_str!("toy_scheme.rs"));
    assert!(page.contains(toy), "copy crates/rlwe/tests/it/toy_scheme.rs into the page");
    assert!(toy.lines().count() < 150);
}
