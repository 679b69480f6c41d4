#![allow(clippy::unwrap_used)]

use std::cell::RefCell;
use std::rc::Rc;

use sotto_harness::LabError;
use sotto_harness::protocol::{Measure, Measured, Prepare, Prepared, Verified, Verify, Version};

use super::*;
use crate::contender::{Contender, Speaker};
use crate::definition::Scheme;

const HEADS: &str = "engine,version,scheme,n,data_primes,data_bits,most_special,special,log2_q,log2_qp,secure,\
                     multiply_relin_us,rotate_us";

fn read(rows: &str) -> Vec<Trial> {
    csv::Reader::from_reader(format!("{HEADS}\n{rows}\n").as_bytes())
        .deserialize()
        .map(Result::unwrap)
        .collect()
}

fn trial(engine: &str, scheme: &str, special: usize, secure: bool, times: [Option<f64>; 2]) -> Trial {
    let [multiply_relin_us, rotate_us] = times;
    let trial = read("engine,1,bfv,32768,16,688,4,0,688.0,860.0,true,,").remove(0);
    let key = Key::of(&chain(scheme)).unwrap();
    let (data_primes, data_bits) = (key.data_primes, key.data_bits);
    let trial = Trial { data_primes, data_bits, most_special: key.most_special, scheme: key.scheme, ..trial };
    Trial { engine: engine.into(), special, secure, multiply_relin_us, rotate_us, ..trial }
}

fn chain(scheme: &str) -> Chain {
    let scheme = Scheme::named(scheme).unwrap();
    Definition::named("operations").unwrap().parameters[0].chain(scheme, 32768).unwrap()
}

/// Returns the best numbers for everything, for products, for rotations.
fn all(engine: &str, scheme: &str, trials: &[Trial]) -> [Option<usize>; 3] {
    [Purpose::Everything, Purpose::Product, Purpose::Rotation]
        .map(|purpose| best(engine, &chain(scheme), trials, purpose))
}

#[test]
fn a_chain_is_settled_if_its_times_agree() {
    let trials = [
        trial("a", "ckks", 4, true, [Some(2.0), Some(2.1)]),
        trial("a", "ckks", 0, true, [Some(1.0), None]),
        trial("b", "ckks", 4, true, [Some(2.0), Some(2.1)]),
        trial("b", "ckks", 2, true, [Some(2.0), Some(3.1)]),
    ];
    let of = |engine, scheme| settled(&trials, engine, &chain(scheme));
    assert_eq!(of("a", "ckks").unwrap(), trials[..2]);
    assert_eq!([of("b", "ckks"), of("c", "ckks"), of("a", "bfv")], [None, None, None]);
}

#[test]
fn the_fastest_that_is_right_and_secure_is_the_best() {
    let both = |us: f64| [Some(us); 2];
    let trials = [
        trial("a", "bfv", 4, true, both(5.0)),
        trial("a", "bfv", 2, true, both(3.0)),
        trial("a", "bfv", 1, false, both(2.0)),
        trial("a", "bfv", 0, true, [None; 2]),
        trial("b", "bfv", 1, false, both(2.0)),
        trial("c", "bfv", 1, true, [None; 2]),
    ];
    let best = |engine| all(engine, "bfv", &trials);
    assert_eq!(
        [best("a"), best("b"), best("c"), best("d")],
        [[Some(2); 3], [Some(1); 3], [None; 3], [None; 3]]
    );
    let other = Definition::named("operations").unwrap().parameters[0].chain(Scheme::Bfv, 16384).unwrap();
    assert_eq!(super::best("a", &other, &trials, Purpose::Everything), None, "another chain");
    let pinned = Chain { free_digits: false, ..chain("bfv") };
    assert_eq!(super::best("a", &pinned, &trials, Purpose::Product), None);
}

#[test]
fn of_what_is_about_as_fast_the_most_special_primes_are_kept() {
    let pair = |slower: f64| {
        [trial("a", "bfv", 4, true, [Some(slower); 2]), trial("a", "bfv", 1, true, [Some(100.0); 2])]
    };
    assert_eq!(all("a", "bfv", &pair(124.0)), [Some(4); 3]);
    assert_eq!(all("a", "bfv", &pair(126.0)), [Some(1); 3]);
}

#[test]
fn an_operation_leaves_the_usual_number_where_its_own_is_clearly_faster() {
    // Without special primes the rotation is wrong, so that only the product's time decides for products.
    let trials = [
        trial("a", "ckks", 1, true, [Some(700.0), Some(660.0)]),
        trial("a", "ckks", 0, true, [Some(245.0), None]),
    ];
    assert_eq!(all("a", "ckks", &trials), [Some(1), Some(0), Some(1)]);
    // With the usual number a product is only slightly slower: it keeps the number.
    let trials = [
        trial("a", "bfv", 1, true, [Some(100.0), Some(300.0)]),
        trial("a", "bfv", 0, true, [Some(120.0), Some(100.0)]),
    ];
    assert_eq!(all("a", "bfv", &trials), [Some(0); 3]);
}

#[test]
fn two_times_that_contradict_each_other_are_one() {
    // Each time is one key switch: a cell that is quick in one and slow in the other was disturbed.
    let times = [(4, 87371.4, 87354.9), (3, 114036.0, 62403.9)];
    let of = |scheme| times.map(|(special, a, b)| trial("a", scheme, special, true, [Some(a), Some(b)]));
    assert_eq!(all("a", "ckks", &of("ckks")), [Some(4); 3]);
    assert_eq!(all("a", "bfv", &of("bfv"))[2], Some(3), "in BFV they may differ");
    assert_eq!(of("ckks").map(|trial| trial.is_coherent()), [true, false]);
    assert!(of("bfv").iter().all(Trial::is_coherent));
    let slow = trial("a", "bgv", 1, true, [Some(58.0), Some(100.0)]);
    assert!(!slow.is_coherent());
    assert!(trial("a", "bgv", 1, true, [Some(58.0), None]).is_coherent());
}

#[test]
fn every_operation_has_the_key_that_it_needs() {
    let of = |operations: &[&str]| operations.iter().map(|one| Purpose::of(one)).collect::<Vec<_>>();
    assert_eq!(of(&["multiply_relin", "task_regression"]), [Purpose::Product; 2]);
    assert_eq!(of(&["rotate", "rotate_hoisted"]), [Purpose::Rotation; 2]);
    assert_eq!(of(&["relin_keys", "galois_keys", "keygen", "multiply", "square"]), [Purpose::Everything; 5]);
}

#[test]
fn every_chain_of_the_definitions_is_in_the_table() {
    let trials = table();
    let body = TABLE.split_once('\n').unwrap().1;
    assert_eq!(rows(&trials), body.trim_end().to_owned() + "\n", "as it was written");
    for (chain, _, engines) in chains().unwrap() {
        let name = format!("{} n = {}", chain.scheme.name(), chain.degree);
        let best = |engine| best(engine, &chain, &trials, Purpose::Everything);
        assert!(best("sotto").is_some(), "{name}: run `sotto-lab digits`");
        if engines.iter().any(|engine| engine == "lattigo") {
            assert!(best("lattigo").is_some(), "{name}: run `sotto-lab digits`");
        }
    }
}

/// Returns the trials of a table that contradict themselves; none for a table without interleaved runs.
fn doubtful(head: &str, trials: &[Trial]) -> Vec<String> {
    let about = |trial: &Trial| format!("{} {} {} {}", trial.engine, trial.scheme, trial.n, trial.special);
    let interleaved = head.trim_start_matches("# ").starts_with(MADE);
    trials.iter().filter(|one| interleaved && !one.is_coherent()).map(about).collect()
}

#[test]
fn a_table_of_interleaved_runs_does_not_contradict_itself() {
    let bad = [trial("a", "ckks", 3, true, [Some(1.83), Some(1.0)])];
    assert_eq!(doubtful(&written(&bad, 5), &bad), ["a ckks 32768 3"]);
    assert!(doubtful("# Measured otherwise.", &bad).is_empty());
    assert_eq!(doubtful(TABLE, &table()), [""; 0], "measure again on a quieter machine");
}

struct StandIn {
    special: usize,
    started: usize,
    log: Rc<RefCell<Vec<String>>>,
}

impl Speaker for StandIn {
    fn version(&mut self) -> Result<Version, LabError> {
        let (engine, library, version) = ("a".into(), "a".into(), "7".into());
        let (schemes, flags, threads) = (vec!["bfv".into()], String::new(), 1);
        Ok(Version { engine, library, version, schemes, flags, threads, comparisons: Vec::new() })
    }

    fn prepare(&mut self, request: &Prepare) -> Result<Prepared, LabError> {
        self.special = request.special.len();
        let (data, special) = (request.data.clone(), request.special.clone());
        let (limbs, special_limbs) = (data.len(), special.len());
        Ok(Prepared { data, special, log2_q: 0.0, limbs, special_limbs, log2_qp: None, security: None })
    }

    fn verify(&mut self, _: &Verify) -> Result<Verified, LabError> {
        Ok(Verified { outputs: vec![], bounds: vec![] })
    }

    /// Every process is ten microseconds faster than its predecessor; without special primes a later rotation is wrong.
    fn measure(&mut self, request: &Measure) -> Result<Measured, LabError> {
        if !request.checked && request.operation == "rotate" {
            self.log.borrow_mut().push(self.special.to_string());
        }
        let verified = request.operation != "rotate" || self.special > 0 || self.started < 4;
        let microseconds = vec![1000.0 - 10.0 * self.started as f64; request.repetitions as usize];
        Ok(Measured { microseconds, bytes: None, verified })
    }
}

#[test]
fn runs_are_interleaved_and_the_shortest_times_are_kept() {
    let log = Rc::new(RefCell::new(Vec::new()));
    let (heard, started) = (Rc::clone(&log), std::cell::Cell::new(0));
    let contender = Contender::new("a", move || {
        started.set(started.get() + 1);
        Ok(Box::new(StandIn { special: 0, started: started.get(), log: Rc::clone(&heard) })
            as Box<dyn Speaker>)
    });
    let chain = Definition::named("operations").unwrap().parameters[0].chain(Scheme::Bfv, 4096).unwrap();
    let mut steps = 0;
    let cells = Cell::of(&[&contender], &chain);
    let found = search(cells, &chain, "guidelines-2024".parse().unwrap(), 3, &mut |_| steps += 1);
    // Run 1: one special prime, then none; run 2 in the reverse order; run 3 as run 1.
    assert_eq!(log.borrow().concat(), "100110");
    assert_eq!(steps, 6);
    let times: Vec<_> = found.iter().map(|one| (one.special, one.multiply_relin_us, one.rotate_us)).collect();
    assert_eq!(times, [(1, Some(950.0), Some(950.0)), (0, Some(940.0), None)]);
}
