//! Runs over stand-ins for engines: the order of measurements, gaps, and the effect of engines that die or hang.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use sotto_harness::LabError;
use sotto_harness::protocol::{
    Measure, Measured, Prepare, Prepared, UNSUPPORTED, Values, Verified, Verify, Version,
};
use sotto_runner::{Contender, Definition, Gap, Observer, Row, RunnerError, Scheme, Selection, Speaker, run};

/// A stand-in's faults.
#[derive(Clone, Copy, Default)]
struct Manner {
    /// The operation at which it dies.
    dies_at: Option<&'static str>,
    /// The most special primes that it accepts.
    most_special: Option<usize>,
    lacks: Option<&'static str>,
    /// Computes wrong answers and claims that they are right.
    lies: bool,
    only_bits: bool,
    /// The bytes of memory that it reports.
    memory: Option<u64>,
}

type Log = Rc<RefCell<Vec<String>>>;

struct StandIn {
    name: &'static str,
    manner: Manner,
    log: Log,
}

impl StandIn {
    fn refused<T>(&self, reason: &str) -> Result<T, LabError> {
        Err(LabError::Refused { engine: self.name.into(), reason: reason.into() })
    }
}

impl Speaker for StandIn {
    fn version(&mut self) -> Result<Version, LabError> {
        Ok(Version {
            engine: self.name.into(),
            library: self.name.into(),
            version: "7".into(),
            schemes: vec!["bfv".into()],
            comparisons: vec!["sign".into()],
            flags: String::new(),
            threads: 1,
        })
    }

    fn prepare(&mut self, request: &Prepare) -> Result<Prepared, LabError> {
        if self.manner.most_special.is_some_and(|most| request.special.len() > most) {
            return self.refused("too many special primes");
        }
        if self.manner.only_bits && !request.data.is_empty() {
            return self.refused("chooses its primes itself");
        }
        self.log.borrow_mut().push(format!("{} prepare", self.name));
        let log2_q = request.data_bits.iter().sum::<u32>().into();
        let (data, special) = (request.data.clone(), request.special.clone());
        let limbs = data.len() + request.data_bits.len();
        let special_limbs = special.len() + request.special_bits.len();
        Ok(Prepared { data, special, log2_q, limbs, special_limbs, log2_qp: None, security: Some(128) })
    }

    fn verify(&mut self, _: &Verify) -> Result<Verified, LabError> {
        let answer = if self.manner.lies { vec![5, 12, 4, 0] } else { vec![5, 12, 3, 0] };
        Ok(Verified { outputs: vec![Values::Integers(answer)], bounds: vec![] })
    }

    fn measure(&mut self, request: &Measure) -> Result<Measured, LabError> {
        if self.manner.lacks == Some(request.operation.as_str()) {
            return self.refused(UNSUPPORTED);
        }
        self.log.borrow_mut().push(format!("{} {} {}", self.name, request.operation, request.repetitions));
        if self.manner.dies_at == Some(request.operation.as_str()) {
            return Err(LabError::Ended { engine: self.name.into(), said: "segmentation fault".into() });
        }
        Ok(Measured { microseconds: vec![10.0; request.repetitions as usize], bytes: None, verified: true })
    }

    fn memory(&self) -> Option<u64> {
        self.manner.memory
    }
}

#[derive(Default)]
struct Heard {
    rows: Vec<Row>,
    gaps: Vec<Gap>,
    done: u64,
}

impl Observer for Heard {
    fn row(&mut self, row: Row) -> Result<(), RunnerError> {
        self.rows.push(row);
        Ok(())
    }

    fn gap(&mut self, gap: Gap) -> Result<(), RunnerError> {
        self.gaps.push(gap);
        Ok(())
    }

    fn progress(&mut self, done: u64, _: &str) {
        self.done += done;
    }
}

fn contender(name: &'static str, manner: Manner, log: &Log) -> Contender {
    let log = Rc::clone(log);
    Contender::new(name, move || Ok(Box::new(StandIn { name, manner, log: Rc::clone(&log) })))
}

fn selection(degrees: &[usize]) -> Selection {
    let small = Definition::parse("small", include_str!("../small.toml")).unwrap();
    Selection::new(small, false, degrees, &[Scheme::Bfv]).unwrap()
}

fn heard(selection: &Selection, contenders: &[Contender]) -> Heard {
    let mut heard = Heard::default();
    run(selection, contenders, Duration::ZERO, &mut heard).unwrap();
    heard
}

#[test]
fn a_definition_of_one_task_goes_over_all_its_sizes_in_each_round() {
    let text = include_str!("../small.toml").replacen("engines =", "together = true\nengines =", 1);
    let small = Definition::parse("small", &text).unwrap();
    let selection = Selection::new(small, false, &[], &[Scheme::Bfv]).unwrap();
    let log = Log::default();
    let (a, b) = (contender("a", Manner::default(), &log), contender("b", Manner::default(), &log));
    let heard = heard(&selection, &[a, b]);
    let log = log.borrow();
    assert!(log[..4].iter().all(|line| line.ends_with("prepare")), "{log:?}");
    let first = |line: &&String| line.contains(" add ");
    let engines = log.iter().filter(first).map(|line| &line[..1]).collect::<String>();
    // Once each, then three rounds over both sizes; each begins with another one.
    assert_eq!(engines, "abab".to_owned() + "abab" + "baba" + "abab");
    assert_eq!(heard.rows.len(), 2 * 2 * 3);
    let large = heard.rows.iter().filter(|row| row.n == 8192 && row.least_us == Some(10.0));
    assert_eq!(large.count(), 2 * 3);
    assert_eq!(heard.done, selection.whole());
    assert!(heard.gaps.is_empty(), "{:?}", heard.gaps);
}

#[test]
fn keys_that_may_be_gigabytes_are_made_by_one_engine_after_the_other_while_large_ones_rest() {
    let text = include_str!("../small.toml").replacen("\"add\"", "\"galois_keys\"", 1);
    let small = Definition::parse("small", &text).unwrap();
    let selection = Selection::new(small, false, &[4096], &[Scheme::Bfv]).unwrap();
    let log = Log::default();
    let large = Manner { memory: Some(1 << 30), ..Manner::default() };
    let heard = heard(&selection, &[contender("a", large, &log), contender("b", Manner::default(), &log)]);
    let log = log.borrow();
    let of = |what: &str| {
        let lines = log.iter().filter(|line| line.contains(what));
        lines.map(|line| line.split(' ').next().unwrap()).collect::<String>()
    };
    assert_eq!(of("galois_keys"), "aaaabbbb", "all rounds of the one, then of the other");
    // Both are prepared; a is ended before and after, and prepared again for its keys and for the operations that
    // follow.
    assert_eq!(of("prepare"), "abaa");
    assert_eq!(heard.rows.len(), 6);
    assert!(heard.gaps.is_empty(), "{:?}", heard.gaps);
}

#[test]
fn rounds_go_over_all_engines_and_another_begins_each() {
    let log = Log::default();
    let contenders = ["a", "b", "c"].map(|name| contender(name, Manner::default(), &log));
    let heard = heard(&selection(&[4096]), &contenders);
    let log = log.borrow();
    let adds: Vec<&str> =
        log.iter().filter(|l| l.contains(" add ")).map(|l| l.split(' ').next().unwrap()).collect();
    // One repetition each to estimate the time, then three rounds.
    assert_eq!(adds.join(""), ["abc", "abc", "bca", "cab"].concat());
    assert!(log.contains(&"a add 4".to_owned()), "as many repetitions as fit, and no more than asked");
    assert_eq!(heard.rows.len(), 9, "three operations of three engines");
    let row = &heard.rows[0];
    assert_eq!((row.engine.as_str(), row.operation.as_str(), row.n), ("a", "add", 4096));
    assert_eq!((row.count, row.median_us, row.version.as_str()), (12, 10.0, "7"));
    assert_eq!((row.limbs, row.special_limbs, row.security_bits), (2, 1, Some(128)));
    assert!(row.verified && (row.log2_q - 70.0).abs() < 0.1);
    assert_eq!(heard.done, selection(&[4096]).weight(&selection(&[4096]).spans()[0]));
    let mut keys: Vec<_> = heard.rows.iter().map(|row| (row.key(), &row.engine)).collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 9, "one row each");
}

#[test]
fn an_engine_that_dies_is_a_gap_and_the_others_go_on() {
    let log = Log::default();
    let dies = Manner { dies_at: Some("multiply_relin"), ..Manner::default() };
    let heard = heard(
        &selection(&[4096]),
        &[contender("good", Manner::default(), &log), contender("dies", dies, &log)],
    );
    let of = |engine: &str| heard.rows.iter().filter(|row| row.engine == engine).count();
    assert_eq!((of("good"), of("dies")), (3, 2), "it was started again for what came after");
    assert_eq!(heard.gaps.len(), 1);
    assert_eq!(heard.gaps[0].operation.as_deref(), Some("multiply_relin"));
    assert!(heard.gaps[0].reason.contains("segmentation fault"));
    assert_eq!(log.borrow().iter().filter(|line| *line == "dies prepare").count(), 2);
}

#[test]
fn an_engine_that_keeps_dying_is_left_alone() {
    let log = Log::default();
    let started = Rc::new(Cell::new(0));
    let count = Rc::clone(&started);
    let inner = Rc::clone(&log);
    let dies = Contender::new("dies", move || {
        count.set(count.get() + 1);
        let manner =
            Manner { dies_at: Some(["add", "multiply_relin"][count.get() - 1]), ..Manner::default() };
        Ok(Box::new(StandIn { name: "dies", manner, log: Rc::clone(&inner) }))
    });
    let heard = heard(&selection(&[4096]), &[dies]);
    assert_eq!(started.get(), 2);
    assert!(heard.rows.is_empty());
    let about: Vec<_> = heard.gaps.iter().map(|gap| gap.operation.as_deref()).collect();
    assert_eq!(about, [Some("add"), Some("multiply_relin"), None]);
}

#[test]
fn an_absent_engine_is_named_with_its_log() {
    let log = Log::default();
    let absent = Contender::absent("openfhe", "is not installed", Some("no wheel".into()));
    let heard = heard(&selection(&[4096]), &[absent, contender("good", Manner::default(), &log)]);
    assert_eq!(heard.rows.len(), 3);
    assert_eq!((heard.gaps[0].engine.as_str(), heard.gaps[0].log.as_deref()), ("openfhe", Some("no wheel")));
}

#[test]
fn a_plain_rotation_stands_in_and_what_is_lacking_is_no_row() {
    let log = Log::default();
    let plain = Manner { lacks: Some("rotate_hoisted"), ..Manner::default() };
    let lacks = Manner { lacks: Some("multiply_relin"), ..Manner::default() };
    let heard =
        heard(&selection(&[4096]), &[contender("plain", plain, &log), contender("lacks", lacks, &log)]);
    let row = heard.rows.iter().find(|r| r.engine == "plain" && r.operation == "rotate_hoisted").unwrap();
    assert_eq!(row.instead.as_deref(), Some("rotate"));
    assert!(heard.gaps.is_empty());
    assert_eq!(heard.rows.iter().filter(|row| row.engine == "lacks").count(), 2);
}

#[test]
fn an_engine_gets_the_best_parameters_that_it_takes() {
    let log = Log::default();
    let text = include_str!("../small.toml").replace("[4096, 8192]", "[4096, 32768]");
    let definition = Definition::parse("small", &text).unwrap();
    let selection = Selection::new(definition, false, &[32768], &[Scheme::Bfv]).unwrap();
    let one = Manner { most_special: Some(1), ..Manner::default() };
    let bits = Manner { only_bits: true, ..Manner::default() };
    let contenders = [("many", Manner::default()), ("one", one), ("bits", bits)];
    let heard = heard(&selection, &contenders.map(|(name, manner)| contender(name, manner, &log)));
    let of = |engine: &str| heard.rows.iter().find(|row| row.engine == engine).unwrap();
    assert_eq!((of("many").special_limbs, of("one").special_limbs, of("bits").special_limbs), (4, 1, 4));
    assert_eq!(of("many").log2_q, of("one").log2_q);
    assert_eq!((of("bits").log2_q, of("bits").log2_qp, of("bits").security_bits), (688.0, None, Some(128)));
}

#[test]
fn wrong_answers_make_rows_that_are_not_verified() {
    let log = Log::default();
    let lies = Manner { lies: true, ..Manner::default() };
    let heard = heard(&selection(&[4096]), &[contender("lies", lies, &log)]);
    assert!(heard.rows.len() == 3 && heard.rows.iter().all(|row| !row.verified));
}

#[test]
fn a_scheme_that_an_engine_lacks_is_a_gap() {
    let log = Log::default();
    let small = Definition::parse("small", include_str!("../small.toml")).unwrap();
    let selection = Selection::new(small, true, &[], &[Scheme::Ckks]).unwrap();
    let heard = heard(&selection, &[contender("good", Manner::default(), &log)]);
    assert!(heard.rows.is_empty());
    assert_eq!(heard.gaps[0].reason, "good has no ckks");
}

#[test]
fn what_takes_longer_than_all_rounds_may_is_done_once() {
    let log = Log::default();
    let text = include_str!("../small.toml");
    let definition =
        Definition::parse("small", &text.replacen("seconds = 0.1", "seconds = 0.000001", 1)).unwrap();
    let selection = Selection::new(definition, false, &[4096], &[Scheme::Bfv]).unwrap();
    let heard = heard(&selection, &[contender("slow", Manner::default(), &log)]);
    assert!(heard.rows.len() == 3 && heard.rows.iter().all(|row| row.count == 1));
}
