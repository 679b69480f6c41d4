#![allow(clippy::unwrap_used)]

use std::cell::RefCell;
use std::rc::Rc;

use sotto_harness::protocol::{Prepared, Verified, Verify};

use super::*;
use crate::definition::{Definition, Scheme};

struct StandIn {
    special: usize,
    /// The most special primes that it accepts; None if it accepts any number.
    refuses: Option<usize>,
    log: Rc<RefCell<Vec<String>>>,
}

impl Speaker for StandIn {
    fn version(&mut self) -> Result<Version, LabError> {
        let (engine, library, version) = ("a".into(), "a".into(), "7".into());
        let (schemes, flags, threads) = (vec!["ckks".into()], String::new(), 1);
        Ok(Version { engine, library, version, schemes, flags, threads, comparisons: Vec::new() })
    }

    fn prepare(&mut self, request: &Prepare) -> Result<Prepared, LabError> {
        self.special = request.special.len() + request.special_bits.len();
        if self.refuses == Some(self.special) {
            return Err(LabError::Refused { engine: "a".into(), reason: "no such digits".into() });
        }
        self.log.borrow_mut().push(format!("prepare {}", self.special));
        let (data, special) = (request.data.clone(), request.special.clone());
        let (limbs, special_limbs) = (data.len(), special.len());
        Ok(Prepared { data, special, log2_q: 0.0, limbs, special_limbs, log2_qp: None, security: None })
    }

    fn verify(&mut self, _: &Verify) -> Result<Verified, LabError> {
        Ok(Verified { outputs: vec![], bounds: vec![] })
    }

    fn measure(&mut self, request: &Measure) -> Result<Measured, LabError> {
        self.log.borrow_mut().push(format!("{} {}", request.operation, self.special));
        Ok(Measured { microseconds: vec![1.0], bytes: None, verified: true })
    }

    fn memory(&self) -> Option<u64> {
        None
    }
}

/// Returns the log of preparing and measuring, with the numbers of special primes, for these operations.
fn asked(refuses: Option<usize>, operations: &[&str]) -> Vec<String> {
    let log = Rc::new(RefCell::new(Vec::new()));
    let heard = Rc::clone(&log);
    let contender = Contender::new("a", move || {
        Ok(Box::new(StandIn { special: 0, refuses, log: Rc::clone(&heard) }) as Box<dyn Speaker>)
    });
    let parameters = &Definition::named("operations").unwrap().parameters[0];
    let span = Span { parameters, scheme: Scheme::Ckks, degree: 4096 };
    let chain = parameters.chain(span.scheme, span.degree).unwrap();
    let mut ours: Vec<Trial> = crate::digits::table();
    ours.retain(|trial| trial.engine == "sotto");
    let times = |special| if special == 0 { (Some(1.0), None) } else { (Some(3.0), Some(3.0)) };
    let trials = ours.into_iter().map(|trial| {
        let (multiply_relin_us, rotate_us) = times(trial.special);
        Trial { engine: "a".into(), multiply_relin_us, rotate_us, secure: true, ..trial }
    });
    let trials: Vec<Trial> = trials.collect();
    let mut session = Session::open(&contender, span, &chain, None, &trials).ok().unwrap();
    for operation in operations {
        session.measure(&Measure { operation: (*operation).into(), ..Measure::default() }).unwrap();
    }
    drop(session);
    log.take()
}

#[test]
fn an_engine_is_prepared_once_for_each_choice_of_digits() {
    let operations = ["add", "multiply_relin", "rotate", "relin_keys", "multiply_relin"];
    let expected = [
        "prepare 1",
        "add 1",
        "prepare 0",
        "multiply_relin 0",
        "rotate 1",
        "relin_keys 1",
        "multiply_relin 0",
    ];
    assert_eq!(asked(None, &operations), expected);
    let expected = ["prepare 1", "multiply_relin 1", "multiply_relin 1"];
    assert_eq!(asked(Some(0), &["multiply_relin"; 2]), expected, "what it refuses is not used");
}
