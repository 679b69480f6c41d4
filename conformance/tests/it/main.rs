//! The tests of `sotto-conformance` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod chains;
mod circuits;
mod differential;
mod documents;
mod ends;
mod expand;
mod expanded_programs;
mod golden;
mod golden_partial;
mod golden_sums;
mod known_answers_bundle;
mod known_answers_expand;
mod known_answers_ring;
mod known_answers_schemes;
mod known_answers_transcripts;
mod known_answers_wire;
mod lent_buffers;
mod machines;
mod misfits;
mod noise;
mod noise_programs;
mod plan_memory;
mod reduced;
mod scales;
mod schemes;
mod seal;
mod slot_errors;
mod steady_state;
mod streaming;
mod sum_of_squares;
mod tables;
