//! Runs every target on its corpus and on deterministic mutations of it: none may panic or use more memory than it
//! declares.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use sotto_fuzz::{Inputs, Mutator, Target, corpus, corpus_folder, targets};

/// Default number of mutations for each target; `cargo ci fuzz` sets `SOTTO_FUZZ_MUTATIONS`.
const MUTATIONS: usize = 1000;

/// First inputs that their target must refuse, by position.
const REFUSED: &[(&str, &[usize])] = &[
    // No such operation; no such number.
    ("expression", &[2, 6]),
    // Names, where only numbers are allowed.
    ("expression-encrypted", &[1, 2, 3, 4, 5, 6]),
    // Inflates to more than the limit; messages of TenSEAL.
    ("seal-parameters", &[9]),
    ("seal-inspect", &[9, 11, 12]),
    // A window of another stream, and a group, whose members are told apart when they are kept.
    ("places", &[11, 12]),
    // Encrypted under a passphrase.
    ("key-file", &[2, 3]),
    // Two columns of one name.
    ("device-files", &[8]),
    // An unknown key; no frame.
    ("cloud-http", &[5, 7]),
    // The device's parameters are not registered; insecure parameters.
    ("cloud-upload", &[0]),
    ("cloud-parameters", &[3]),
    // An invalid name.
    ("cloud-log", &[2]),
    // Two callers of one name.
    ("recryptor-callers", &[1]),
];

/// The outcome of an input.
struct Tried {
    accepted: bool,
    /// The bytes of memory held, and the limit.
    held: (u64, u64),
}

/// Runs a target on one input; returns the fault as an error.
fn tried(target: &Target, input: &[u8]) -> Result<Tried, String> {
    let (mut info, mut accepted) = Default::default();
    let ran = catch_unwind(AssertUnwindSafe(|| {
        info = allocation_counter::measure(|| accepted = (target.run)(input));
    }));
    let most = (target.memory)(input) as u64;
    if ran.is_err() {
        Err("panicked".to_owned())
    } else if info.bytes_max > most {
        Err(format!("held {} bytes for {} of input, at most {most} are allowed", info.bytes_max, input.len()))
    } else {
        Ok(Tried { accepted, held: (info.bytes_max, most) })
    }
}

/// Returns the memory count that is closer to its limit.
fn nearer(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    if u128::from(one.0) * u128::from(other.1) > u128::from(other.0) * u128::from(one.1) {
        one
    } else {
        other
    }
}

/// Describes a failure, and keeps the input in a file.
fn failure(target: &Target, input: &[u8], what: &str) -> String {
    let name = format!("{}-{}", target.name, &blake3::hash(input).to_hex()[..16]);
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, input).unwrap();
    format!("{}: {what}; the input is in {}", target.name, path.display())
}

/// Returns a seed that depends only on the name, so that every run has the same mutations.
fn seed(name: &str) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&blake3::hash(name.as_bytes()).as_bytes()[..8]);
    u64::from_le_bytes(first)
}

fn mutations() -> usize {
    std::env::var("SOTTO_FUZZ_MUTATIONS").map_or(MUTATIONS, |count| count.parse().unwrap())
}

/// Runs a target on its corpus and on mutations; returns a summary.
fn exercise(target: &Target) -> Result<String, String> {
    let inputs = corpus(target).unwrap();
    assert!(
        !inputs.is_empty(),
        "{} has a corpus: `cargo run --release -p sotto-fuzz --bin corpus`",
        target.name
    );
    // Values made once are made here, before memory is counted.
    (target.run)(&inputs[0]);
    let (mut count, mut accepted, mut held) = (0, 0, (0, 1));
    let mut one = |input: &[u8]| {
        let tried = tried(target, input).map_err(|what| failure(target, input, &what))?;
        (count, accepted, held) =
            (count + 1, accepted + usize::from(tried.accepted), nearer(held, tried.held));
        Ok::<_, String>(())
    };
    inputs.iter().map(Vec::as_slice).chain([&[][..]]).try_for_each(&mut one)?;
    let mut mutator = Mutator::new(seed(target.name));
    (0..mutations()).try_for_each(|_| one(&mutator.any(&inputs)))?;
    Ok(format!("{count:>7} executions, {accepted:>7} accepted, held {} of {} bytes", held.0, held.1))
}

/// Returns a target's first inputs, without later findings.
fn first_inputs(target: &Target) -> Vec<Vec<u8>> {
    let folder = corpus_folder(target);
    match target.inputs {
        Inputs::MadeAnew(make) => make(),
        Inputs::Kept(_) => {
            (0..).map_while(|number| std::fs::read(folder.join(format!("first-{number}"))).ok()).collect()
        }
    }
}

/// A target that refused its first inputs would test nothing but refusals.
#[test]
fn every_first_input_is_accepted_or_listed_as_refused() {
    let mut wrong = Vec::new();
    for target in targets() {
        let listed =
            REFUSED.iter().find(|(name, _)| *name == target.name).map_or(&[][..], |(_, listed)| listed);
        for (number, input) in first_inputs(&target).iter().enumerate() {
            let accepted = (target.run)(input);
            if accepted == listed.contains(&number) {
                wrong.push(format!(
                    "{} {number} is {}",
                    target.name,
                    if accepted { "accepted" } else { "refused" }
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let names: BTreeSet<&str> = targets().iter().map(|target| target.name).collect();
    assert!(REFUSED.iter().all(|(name, _)| names.contains(name)), "a target of REFUSED is gone");
}

#[test]
fn no_target_panics_or_holds_too_much() {
    let (targets, next) = (targets(), AtomicUsize::new(0));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let one = || targets.get(next.fetch_add(1, Ordering::Relaxed));
        let ran = std::iter::from_fn(one).map(|target| {
            let start = std::time::Instant::now();
            let outcome = exercise(target);
            let (said, seconds) = (outcome.as_deref().unwrap_or("fails"), start.elapsed().as_secs_f64());
            println!("{:24} {said}, {seconds:.1} s", target.name);
            outcome.err()
        });
        ran.flatten().collect::<Vec<String>>()
    };
    let found: Vec<String> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn names_are_unique_and_every_folder_is_a_targets() {
    let names: BTreeSet<&str> = targets().iter().map(|target| target.name).collect();
    assert_eq!(names.len(), targets().len());
    let folder = corpus_folder(&targets()[0]);
    for entry in std::fs::read_dir(folder.parent().unwrap()).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(names.contains(name.to_str().unwrap()), "{name:?} is no target");
    }
}
