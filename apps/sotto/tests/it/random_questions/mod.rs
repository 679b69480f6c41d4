//! Random questions of the grammar, answered from encrypted readings and by a plain interpreter over the same readings.
//!
//! `SOTTO_SEED` repeats a run, `SOTTO_QUESTIONS` is the number of questions.

mod calls;
mod cell;
mod clock;
mod evaluate;
mod expressions;
mod generator;
mod house;
mod interpreter;
mod judge;
mod language;
mod numbers;
mod refusals;
mod sums;
mod text;
mod truth;
mod units;
mod vectors;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use sotto_owner::Plant;

use self::clock::Clock;
use self::house::House;
use self::interpreter::Interpreter;
use self::language::Question;
use self::numbers::Numbers;

const QUESTIONS: u64 = 5000;
const SEED: u64 = 1;
/// Number of threads that ask.
const THREADS: u64 = 2;

/// Documented reasons for refusing a question that the interpreter answers: words of the error, and the documented reason.
const KNOWN: [(&str, &str); 2] = [
    ("would come down", "more readings would come down than the limit"),
    ("no device sends the stream that it needs", "squares and products that no window was sent for"),
];

/// The results of some questions.
#[derive(Default)]
struct Tally {
    answered: u64,
    rows: u64,
    empty: u64,
    /// Texts that are no question, or another one: that nothing panics is all that is known of them.
    mangled: u64,
    /// Questions that both refuse, by reason.
    refused: BTreeMap<&'static str, u64>,
    /// Questions that the interpreter answers, and the product refuses for a known reason.
    declined: BTreeMap<&'static str, u64>,
    faults: Vec<String>,
}

#[test]
fn random_questions_are_answered_as_the_plain_readings_say() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let (seed, count) =
        (number("SOTTO_SEED").unwrap_or(SEED), number("SOTTO_QUESTIONS").unwrap_or(QUESTIONS));
    let outside = tempfile::tempdir().unwrap();
    let house = House::new();
    let cloud = house.send(outside.path());
    let begin = Instant::now();
    let part = |thread: u64| {
        let house = House::new();
        let clock = Clock::new(&house);
        let interpreter = Interpreter { house: &house, clock: &clock };
        let plant = Plant::open(&outside.path().join("plant")).unwrap();
        let mut tally = Tally::default();
        for number in (thread..count).step_by(THREADS as usize) {
            tally.ask(&plant, &interpreter, seed + number);
        }
        tally
    };
    let tallies: Vec<Tally> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || part(thread))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let all = tallies.into_iter().reduce(Tally::plus).unwrap_or_default();
    drop(cloud);
    println!("SOTTO_SEED={seed} SOTTO_QUESTIONS={count}: {:.1} s", begin.elapsed().as_secs_f64());
    println!("{} answered with {} rows, {} of them without a value", all.answered, all.rows, all.empty);
    println!("{} texts with a word missing, twice or elsewhere", all.mangled);
    for (reason, count) in &all.refused {
        println!("{count} refused by both: {reason}");
    }
    for (reason, count) in &all.declined {
        println!("{count} refused although the plain readings answer: {reason}");
    }
    assert!(all.faults.is_empty(), "{} differ:\n{}", all.faults.len(), all.faults.join("\n"));
}

impl Tally {
    fn ask(&mut self, plant: &Plant, interpreter: &Interpreter<'_>, seed: u64) {
        let mut numbers = Numbers(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let question = generator::question(&mut numbers);
        let text = question.to_string();
        let begin = Instant::now();
        let found = catch_unwind(AssertUnwindSafe(|| {
            if numbers.once_in(20) {
                return self.mangled(plant, &generator::mangled(&text, &mut numbers));
            }
            self.compared(plant, interpreter, &question, &text)
        }));
        if begin.elapsed().as_millis() > 1000 {
            println!("{:.1} s: {text}", begin.elapsed().as_secs_f64());
        }
        let fault = found.unwrap_or_else(|_| Some("it panics".to_owned()));
        self.faults
            .extend(fault.map(|fault| format!("SOTTO_SEED={seed} SOTTO_QUESTIONS=1: {text}\n    {fault}")));
    }

    /// Asks a text that may be no question.
    fn mangled(&mut self, plant: &Plant, text: &str) -> Option<String> {
        self.mangled += 1;
        let parsed = plant.question(text).ok()?;
        let printed = parsed.to_string();
        let again = printed.parse::<sotto_owner::question::Question>();
        // An answer of any kind will do.
        drop(plant.ask(&parsed, &mut |_, _| {}));
        let is_same = again.as_ref().is_ok_and(|again| again.to_string() == printed);
        (!is_same).then(|| format!("{text} is printed as {printed}, and read as {again:?}"))
    }

    /// Asks, and returns the difference from the interpreter's answer.
    fn compared(
        &mut self,
        plant: &Plant,
        interpreter: &Interpreter<'_>,
        question: &Question,
        text: &str,
    ) -> Option<String> {
        let expected = refusals::refusal(question);
        let parsed = match plant.question(text) {
            Ok(parsed) => parsed,
            Err(error) => return self.refused(expected, &error.to_string()),
        };
        let printed = parsed.to_string();
        match printed.parse::<sotto_owner::question::Question>() {
            Ok(again) if again.to_string() == printed => {}
            other => return Some(format!("it is printed as {printed}, and read as {other:?}")),
        }
        let answer = match plant.ask(&parsed, &mut |_, _| {}) {
            Ok(answer) => answer,
            Err(error) => return self.refused(expected, &error.to_string()),
        };
        if let Some(reason) = expected {
            return Some(format!("it is answered, and should be refused: {reason}"));
        }
        self.answered += 1;
        self.rows += answer.rows.len() as u64;
        self.empty += answer.rows.iter().filter(|row| row.value.is_none()).count() as u64;
        judge::fault(question, &interpreter.rows(question), &answer)
    }

    /// Counts a refusal; returns it if it has no documented reason.
    fn refused(&mut self, expected: Option<&'static str>, error: &str) -> Option<String> {
        let known = KNOWN.iter().find(|(words, _)| error.contains(words)).map(|(_, reason)| *reason);
        match (expected, known) {
            (Some(reason), _) => *self.refused.entry(reason).or_default() += 1,
            (None, Some(reason)) => *self.declined.entry(reason).or_default() += 1,
            (None, None) => return Some(format!("it is refused: {error}")),
        }
        None
    }

    fn plus(mut self, other: Self) -> Self {
        self.answered += other.answered;
        self.rows += other.rows;
        self.empty += other.empty;
        self.mangled += other.mangled;
        other
            .refused
            .into_iter()
            .for_each(|(reason, count)| *self.refused.entry(reason).or_default() += count);
        other
            .declined
            .into_iter()
            .for_each(|(reason, count)| *self.declined.entry(reason).or_default() += count);
        self.faults.extend(other.faults);
        self
    }
}
