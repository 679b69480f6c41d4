//! Every target on its corpus, and on deterministic mutations of it: none panics, none holds more memory than it says.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use sotto_fuzz::{Inputs, Mutator, Target, corpus, corpus_folder, targets};

/// Mutations a target; `cargo ci fuzz` asks for more by `SOTTO_FUZZ_MUTATIONS`.
const MUTATIONS: usize = 1000;

/// First inputs that their target is to refuse.
const REFUSED: &[(&str, &[usize])] = &[
    // No such operation; no such number.
    ("expression", &[2, 6]),
    // Names in a place where all values are written out.
    ("expression-encrypted", &[1, 2, 3, 4, 5, 6]),
    // Inflates to more than there can be.
    ("seal-parameters", &[9]),
    ("seal-inspect", &[9]),
    // Under a passphrase.
    ("key-file", &[2, 3]),
    // Two columns of one name.
    ("series", &[2]),
    // A key that is not there; no frame.
    ("cloud-http", &[5, 7]),
    // The device's other parameters; parameters that are not secure.
    ("cloud-upload", &[0]),
    ("cloud-parameters", &[3]),
    // A name that is none.
    ("cloud-log", &[2]),
    // Two callers of one name.
    ("recryptor-callers", &[1]),
];

/// What became of an input.
struct Tried {
    accepted: bool,
    /// How many bytes it held, and how many it may.
    held: (u64, u64),
}

/// Hands a target one input; what is wrong with it, if anything is.
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

/// Of two counts of memory the one that is nearer to its bound.
fn nearer(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    if u128::from(one.0) * u128::from(other.1) > u128::from(other.0) * u128::from(one.1) {
        one
    } else {
        other
    }
}

/// A failure, with the input kept in a file.
fn failure(target: &Target, input: &[u8], what: &str) -> String {
    let name = format!("{}-{}", target.name, &blake3::hash(input).to_hex()[..16]);
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, input).unwrap();
    format!("{}: {what}; the input is in {}", target.name, path.display())
}

/// Another stream of mutations for each name, the same in each run.
fn seed(name: &str) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&blake3::hash(name.as_bytes()).as_bytes()[..8]);
    u64::from_le_bytes(first)
}

fn mutations() -> usize {
    std::env::var("SOTTO_FUZZ_MUTATIONS").map_or(MUTATIONS, |count| count.parse().unwrap())
}

/// The corpus and its mutations; gives what is said of them.
fn exercise(target: &Target) -> Result<String, String> {
    let inputs = corpus(target).unwrap();
    assert!(
        !inputs.is_empty(),
        "{} has a corpus: `cargo run --release -p sotto-fuzz --bin corpus`",
        target.name
    );
    // What is made once is made before anything is counted.
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

/// What a target starts from, without what was found later.
fn first_inputs(target: &Target) -> Vec<Vec<u8>> {
    let folder = corpus_folder(target);
    match target.inputs {
        Inputs::MadeAnew(make) => make(),
        Inputs::Kept(_) => {
            (0..).map_while(|number| std::fs::read(folder.join(format!("first-{number}"))).ok()).collect()
        }
    }
}

/// A target that refuses what it starts from tries nothing but refusals.
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
