//! Random programs give the same answer in sotto, in another library and in the clear.
//!
//! `SOTTO_DIFFERENTIAL` sets the number of programs of each test, and makes the engine mandatory. Without it a few
//! programs run if the engine is installed, and none if it is not.

mod clear;
mod compare;
mod parameter_sets;
mod random;
mod tally;
mod values;

use sotto_harness::{Engine, LATTIGO, SEAL};
use sotto_rlwe::{Bfv, Bgv, Ckks};

use compare::compare;
use parameter_sets::{Chain, ParameterSet};
use values::Comparable;

/// Number of programs by default, on the smallest parameters alone, so that slow builds can run them too.
const FEW: usize = 2;

fn differential<S: Comparable>(engine: &Engine, parameter_sets: &[ParameterSet]) {
    let asked = std::env::var("SOTTO_DIFFERENTIAL").ok();
    let count = asked.as_ref().map_or(FEW, |text| text.parse().expect("SOTTO_DIFFERENTIAL is a number"));
    match (engine.installed(), asked) {
        (Ok(installed), _) => compare::<S>(&installed, parameter_sets, count),
        (Err(error), None) => println!("skipped: {error}"),
        (Err(error), Some(_)) => panic!("{error}"),
    }
}

#[test]
fn seal_bfv() {
    differential::<Bfv>(&SEAL, &parameter_sets::integers(Chain::Same));
}

#[test]
fn seal_ckks() {
    differential::<Ckks>(&SEAL, &parameter_sets::reals());
}

#[test]
fn lattigo_bgv() {
    differential::<Bgv>(&LATTIGO, &parameter_sets::integers(Chain::Longer));
}

#[test]
fn lattigo_bfv() {
    differential::<Bfv>(&LATTIGO, &parameter_sets::integers(Chain::Longer));
}

#[test]
fn lattigo_ckks() {
    differential::<Ckks>(&LATTIGO, &parameter_sets::reals());
}
