//! Recryptors that are slow, far away, out of order, wrong or gone.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use crypto_bigint::{BoxedUint, NonZero, Odd, Resize as _, U512};
use sotto_emulate::{
    BLINDING_BITS, Flow, LARGEST_BATCH, Products, Progress, Recrypt, RecryptError, Request, Response,
    RunError, Schedule, run,
};
use sotto_partial::PartialError;
use sotto_partial::paillier::Ciphertext;
use sotto_program::{Program, ProgramBuilder};

use super::setting::{CONVERTED, KEY_BITS, MODES, SETTING, Setting, lower, meaning};

const PARALLEL: Schedule = Schedule::Parallel { workers: 2, trips: 3 };

/// Makes the program of Σ x_i·y_i and its square, with values.
fn weighted_sum(terms: usize) -> (Program, Vec<i128>) {
    let mut asked = ProgramBuilder::new();
    let (mut sum, mut values) = (asked.integer(0), Vec::new());
    for term in 0..terms {
        let (x, y) = (asked.input(format!("x{term}"), 20.0), asked.input(format!("y{term}"), 20.0));
        let product = asked.mul(x, y);
        sum = asked.add(sum, product);
        values.extend([term as i128 % 20, -(term as i128) % 7 + 3]);
    }
    let square = asked.mul(sum, sum);
    asked.output("sum", sum).output("square", square);
    (asked.finish().unwrap(), values)
}

/// A recryptor that calls a function before it asks the real one.
struct With<F>(F);

impl<F: Fn(&[Request]) -> Result<(), RecryptError> + Sync> Recrypt for With<F> {
    fn exchange(&self, batch: &[Request]) -> Result<Vec<Response>, RecryptError> {
        (self.0)(batch)?;
        SETTING.recryptor.exchange(batch)
    }
}

fn lost() -> RecryptError {
    RecryptError::Lost { reason: "connection reset".into() }
}

#[test]
fn trips_that_overtake_each_other_change_nothing() {
    // The first trip waits until another came back, if another is under way.
    let (program, values) = weighted_sum(6);
    for (products, _) in MODES {
        let flow = lower(&program, products).unwrap();
        let (trips, back) = (AtomicU64::new(0), (Mutex::new(0u64), Condvar::new()));
        let recryptor = With(|_: &[Request]| {
            let first = trips.fetch_add(1, Ordering::SeqCst) == 0;
            let mut count = back.0.lock().unwrap();
            if first {
                let patience = Duration::from_millis(200);
                count = back.1.wait_timeout_while(count, patience, |count| *count == 0).unwrap().0;
            }
            *count += 1;
            back.1.notify_all();
            Ok(())
        });
        let found = SETTING.answers(&flow, &values, &recryptor, PARALLEL).unwrap();
        assert_eq!(found, meaning(&program, &values), "{products:?}");
    }
}

#[test]
fn while_trips_are_under_way_requests_gather() {
    // Slow trips: 40 factors are ready at once, and are sent in far fewer trips than requests.
    let (program, values) = weighted_sum(20);
    let flow = lower(&program, CONVERTED).unwrap();
    let (under_way, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let recryptor = With(|batch: &[Request]| {
        assert!((1..=LARGEST_BATCH).contains(&batch.len()));
        most.fetch_max(under_way.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(10));
        under_way.fetch_sub(1, Ordering::SeqCst);
        Ok(())
    });
    let mut parallel = Progress::new(&flow, &SETTING.keys, &SETTING.encrypt(&values)).unwrap();
    parallel.advance(&recryptor, PARALLEL).unwrap();
    assert_eq!(SETTING.decrypt(&parallel.outputs().unwrap()), meaning(&program, &values));
    assert_eq!(parallel.tally().requests, flow.requests() as u64);
    assert!(parallel.tally().trips <= flow.requests() as u64 / 3, "{:?}", parallel.tally());
    assert!(most.load(Ordering::SeqCst) <= 3);
    let mut serial = Progress::new(&flow, &SETTING.keys, &SETTING.encrypt(&values)).unwrap();
    serial.advance(&SETTING.recryptor, Schedule::Serial).unwrap();
    assert_eq!(serial.tally().trips, flow.requests() as u64);
}

#[test]
fn more_than_a_trip_carries_goes_in_several() {
    let (program, values) = weighted_sum(140);
    let flow = lower(&program, CONVERTED).unwrap();
    let recryptor = With(|batch: &[Request]| {
        assert!(batch.len() <= LARGEST_BATCH);
        Ok(())
    });
    let one = Schedule::Parallel { workers: 1, trips: 1 };
    assert_eq!(SETTING.answers(&flow, &values, &recryptor, one).unwrap(), meaning(&program, &values));
}

#[test]
fn what_is_lost_is_asked_again_and_nothing_else() {
    // Every third trip fails before it reaches the recryptor.
    let (program, values) = weighted_sum(4);
    for (products, schedule) in MODES {
        let flow = lower(&program, products).unwrap();
        let (trips, answered) = (AtomicU64::new(0), Mutex::new(HashMap::<usize, u32>::new()));
        let recryptor = With(|batch: &[Request]| {
            if trips.fetch_add(1, Ordering::SeqCst) % 3 == 1 {
                return Err(lost());
            }
            *answered.lock().unwrap().entry(batch.len()).or_default() += 1;
            Ok(())
        });
        let mut progress = Progress::new(&flow, &SETTING.keys, &SETTING.encrypt(&values)).unwrap();
        let mut failures = 0;
        while let Err(error) = progress.advance(&recryptor, schedule) {
            assert_eq!(error, RunError::Recrypt(lost()));
            assert!(progress.outputs().is_none());
            failures += 1;
            assert!(failures < 100);
        }
        assert!(failures > 0);
        // Answers that arrived are not asked for again.
        let asked: u64 =
            answered.lock().unwrap().iter().map(|(size, times)| *size as u64 * u64::from(*times)).sum();
        assert_eq!((asked, progress.tally().requests), (flow.requests() as u64, flow.requests() as u64));
        assert_eq!(progress.steps(), (flow.steps().len(), flow.steps().len()));
        assert_eq!(SETTING.decrypt(&progress.outputs().unwrap()), meaning(&program, &values));
        // Nothing is left to do, so the recryptor is not asked.
        progress.advance(&With(|_: &[Request]| Err(lost())), schedule).unwrap();
    }
}

#[test]
fn what_is_blinded_says_nothing_of_what_it_was() {
    // Factors from −20 to 20 have five bits; blinding numbers are 81 bits longer, and longer by the bits of
    // their count. All but one in a million of the numbers that the recryptor decrypts are nearly as long as
    // these, and each run draws new ones.
    let (program, values) = weighted_sum(8);
    let flow = lower(&program, Products::Blinded).unwrap();
    let seen = Mutex::new(Vec::new());
    let recryptor = With(|batch: &[Request]| {
        for request in batch {
            let Request::Product(x, y) = request else { panic!("something is converted") };
            seen.lock().unwrap().extend(SETTING.decrypt(&[x.clone(), y.clone()]));
        }
        Ok(())
    });
    for _ in 0..2 {
        assert_eq!(
            SETTING.answers(&flow, &values, &recryptor, PARALLEL).unwrap(),
            meaning(&program, &values)
        );
    }
    let mut seen = seen.into_inner().unwrap();
    assert_eq!(seen.len(), 2 * 2 * flow.requests());
    assert!(seen.iter().all(|value| value.unsigned_abs() > 1 << (5 + BLINDING_BITS - 20)), "{seen:?}");
    seen.sort_unstable();
    seen.dedup();
    // The square's factor is one number, sent twice.
    assert_eq!(seen.len(), 2 * flow.blinded());
}

fn fails(flow: &Flow, values: &[i128], recryptor: &dyn Recrypt, schedule: Schedule) -> RunError {
    SETTING.answers(flow, values, recryptor, schedule).unwrap_err()
}

#[test]
fn a_refusal_ends_the_run_with_its_reason() {
    let (program, values) = weighted_sum(4);
    let other = Setting::new(2);
    for (products, schedule) in MODES {
        let flow = lower(&program, products).unwrap();
        let quota = RecryptError::Quota { asked: 1, left: 0 };
        let recryptor = With(|_: &[Request]| Err(quota.clone()));
        assert_eq!(fails(&flow, &values, &recryptor, schedule), RunError::Recrypt(quota.clone()));
        // A recryptor that holds another key.
        let refused = RecryptError::Refused { request: 0, reason: PartialError::OtherKey };
        assert_eq!(fails(&flow, &values, &other.recryptor, schedule), RunError::Recrypt(refused));
    }
}

/// A recryptor that changes the real one's answers.
struct Liar<F>(F);

impl<F: Fn(Vec<Response>) -> Vec<Response> + Sync> Recrypt for Liar<F> {
    fn exchange(&self, batch: &[Request]) -> Result<Vec<Response>, RecryptError> {
        Ok((self.0)(SETTING.recryptor.exchange(batch)?))
    }
}

#[test]
fn answers_that_do_not_belong_are_refused() {
    let (program, values) = weighted_sum(3);
    let other = Setting::new(3);
    let foreign = Response::Paillier(other.encrypt(&[1])[0].clone());
    let code = lower(&program, CONVERTED).unwrap().code().unwrap();
    let elsewhere =
        other.recryptor.exchange(&[Request::ToElGamal(other.encrypt(&[1])[0].clone(), code)]).unwrap();
    for (products, schedule) in MODES {
        let flow = lower(&program, products).unwrap();
        let refused = |change: &(dyn Fn(Vec<Response>) -> Vec<Response> + Sync)| {
            let answers = RunError::Recrypt(RecryptError::Answers);
            assert_eq!(fails(&flow, &values, &Liar(change), schedule), answers, "{products:?}");
        };
        refused(&|_| Vec::new());
        refused(&|mut answers| {
            answers.extend(answers.clone());
            answers
        });
        refused(&|answers| vec![foreign.clone(); answers.len()]);
        refused(&|answers| vec![elsewhere[0].clone(); answers.len()]);
    }
}

#[test]
#[should_panic(expected = "scoped thread panicked")]
fn a_panic_on_a_trip_ends_the_run() {
    let (program, values) = weighted_sum(3);
    let flow = lower(&program, CONVERTED).unwrap();
    let recryptor = With(|_: &[Request]| panic!("the recryptor's client is at fault"));
    let _ = SETTING.answers(&flow, &values, &recryptor, PARALLEL);
}

#[test]
fn keys_and_inputs_are_those_that_the_flow_was_made_for() {
    let (program, values) = weighted_sum(1);
    let flow = lower(&program, CONVERTED).unwrap();
    let (inputs, other) = (SETTING.encrypt(&values), Setting::new(4));
    let new = |keys, inputs: &[_]| Progress::new(&flow, keys, inputs).err();
    assert_eq!(new(&SETTING.keys, &inputs), None);
    assert_eq!(new(&SETTING.keys, &inputs[..1]), Some(RunError::Inputs { expected: 2, found: 1 }));
    assert!(matches!(new(&other.keys, &inputs), Some(RunError::OtherKey { input: 0, .. })));
    let without = sotto_emulate::PublicKeys { elgamal: None, ..SETTING.keys.clone() };
    assert_eq!(new(&without, &inputs), Some(RunError::Keys { paillier: 512, elgamal: 2048 }));
}

#[test]
fn what_the_agent_gets_has_masks_of_every_kind() {
    // A key's own masks are in a subgroup of Jacobi symbol 1. The recryptor must not see the symbol of the
    // earlier masks in a blinded number's mask: it would be a parity of the blinding number.
    let key = &SETTING.keys.paillier;
    let symbol = |ciphertext: &Ciphertext| {
        // E(m) = (1 + m·n)·ρ is ρ modulo n.
        let value = BoxedUint::from_be_slice_vartime(&key.write(ciphertext));
        let wide = key.modulus().clone().resize(value.bits_precision());
        let rest = value.rem_vartime(&NonZero::new(wide).unwrap()).resize(KEY_BITS);
        let [rest, n] = [&rest, key.modulus()].map(|x| U512::from_be_slice(&x.to_be_bytes()));
        let symbol = rest.jacobi_symbol(&Odd::new(n).unwrap());
        usize::from(symbol.is_one().to_bool())
    };
    let seen = Mutex::new([0usize; 2]);
    let recryptor = With(|batch: &[Request]| {
        for request in batch {
            if let Request::Product(x, y) = request {
                let mut seen = seen.lock().unwrap();
                [x, y].into_iter().for_each(|c| seen[symbol(c)] += 1);
            }
        }
        Ok(())
    });
    let (program, values) = weighted_sum(40);
    let flow = lower(&program, Products::Blinded).unwrap();
    let inputs = SETTING.encrypt(&values);
    assert!(inputs.iter().all(|input| symbol(input) == 1), "a key's own masks");
    run(&flow, &SETTING.keys, &inputs, &recryptor, PARALLEL).unwrap();
    let [minus, plus] = *seen.lock().unwrap();
    // Of 82 symbols, both values are equally likely: a share below a fifth has a probability of 2^-30.
    assert!(minus > 16 && plus > 16, "{minus} of symbol −1, {plus} of 1");
}
