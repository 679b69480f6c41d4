//! `sotto verify`: repeats the work behind an answer here and compares the results with the cloud's.

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use sotto_owner::question::Duration as Span;
use sotto_owner::{OnVerified, OwnerError, Plant, Verification};

use super::Place;
use crate::output::say;
use crate::run::Run;

/// Work that ends sooner draws no bar.
const PATIENCE: Duration = Duration::from_secs(2);
/// Exit codes of an answer that is wrong (`FOUND`), of one that could not be verified (`OPEN`), and of one that could not be
/// on three days (`WITHHELD`).
const FOUND: u8 = 7;
const OPEN: u8 = 6;
const WITHHELD: u8 = 8;

/// Arguments of `sotto verify`.
#[derive(clap::Args, Debug)]
pub(crate) struct Verify {
    /// The answer, by its name in `sotto answers` [default: the latest]
    #[arg(add = clap_complete::ArgValueCompleter::new(crate::complete::answer))]
    answer: Option<String>,
    /// Repeat only this part of the work, drawn at random: above 0, at most 1
    #[arg(long, value_name = "PART", default_value_t = 1.0)]
    sample: f64,
    /// Verify all answers kept within this time: 6h, 7d, 2w
    #[arg(long, value_name = "TIME", conflicts_with = "answer")]
    since: Option<Span>,
    /// Verify again at this interval: 6h, 1d. The first run takes the answers of --since, later runs those kept
    /// meanwhile
    #[arg(long, value_name = "TIME", requires = "since")]
    every: Option<Span>,
    /// Save everything needed to verify to a new folder: messages, plans, evaluation keys, transcripts. It holds no
    /// secret
    #[arg(long, value_name = "DIR", conflicts_with_all = ["since", "sample"])]
    save: Option<PathBuf>,
    /// Verify the folder that --save wrote, without a plant and a cloud
    #[arg(long, value_name = "DIR", conflicts_with_all = ["answer", "since", "sample", "save"])]
    from: Option<PathBuf>,
    /// Print one JSON document for each run
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

impl Run for Verify {
    fn run(self) -> anyhow::Result<ExitCode> {
        if let Some(folder) = &self.from {
            let done = repeating(|progress| sotto_owner::verify_folder(folder, progress))?;
            return Ok(ended(shown(&[done], self.json)));
        }
        let plant = self.place.open()?;
        let Some(since) = self.since else {
            let name = match &self.answer {
                Some(name) => name.clone(),
                None => plant.latest_answer()?,
            };
            return Ok(ended(verified(&plant, &[name], &self)?));
        };
        let mut within = milliseconds(since);
        loop {
            let begin = Instant::now();
            let names = plant.latest_answers(within)?;
            let outcome = match (verified(&plant, &names, &self), self.every) {
                // An unreachable cloud does not end the schedule.
                (Err(error), Some(_)) => {
                    eprintln!("sotto: {error}");
                    Outcome::Open
                }
                (outcome, _) => outcome?,
            };
            let Some(every) = self.every else { return Ok(ended(outcome)) };
            let time = milliseconds(every);
            thread::sleep(Duration::from_millis(time.unsigned_abs()).saturating_sub(begin.elapsed()));
            // Tries answers again that could not be verified.
            within = if matches!(outcome, Outcome::Open | Outcome::Withheld) {
                within.saturating_add(time)
            } else {
                time
            };
        }
    }
}

fn ended(outcome: Outcome) -> ExitCode {
    match outcome {
        Outcome::Holds => ExitCode::SUCCESS,
        Outcome::Open => ExitCode::from(OPEN),
        Outcome::Withheld => ExitCode::from(WITHHELD),
        Outcome::Found => ExitCode::from(FOUND),
    }
}

fn milliseconds(span: Span) -> i64 {
    i64::try_from(span.seconds()).unwrap_or(i64::MAX / 1000).saturating_mul(1000)
}

/// The outcome of verifying several answers; the worst of them counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Holds,
    /// Some work could not be repeated.
    Open,
    /// Some work could not be repeated on three days.
    Withheld,
    /// A statement of the cloud is wrong.
    Found,
}

/// Verifies answers and prints the outcomes.
fn verified(plant: &Plant, names: &[String], arguments: &Verify) -> Result<Outcome, OwnerError> {
    let (mut all, mut failed) = (Vec::with_capacity(names.len()), None);
    for name in names {
        let save = arguments.save.as_deref();
        match repeating(|progress| plant.verify(name, arguments.sample, save, progress)) {
            Ok(done) => all.push(done),
            // An error for one answer does not keep the others from being verified.
            Err(error) if names.len() > 1 => {
                eprintln!("sotto: {name}: {error}");
                failed = failed.or(Some(error));
            }
            Err(error) => return Err(error),
        }
    }
    let outcome = shown(&all, arguments.json);
    match (outcome, failed) {
        (Outcome::Found | Outcome::Withheld, _) | (_, None) => Ok(outcome),
        (_, Some(error)) => Err(error),
    }
}

/// Prints outcomes; returns the worst.
fn shown(all: &[Verification], as_json: bool) -> Outcome {
    let of = |done: &Verification| match (done.findings.is_empty(), done.open.is_empty()) {
        (false, _) => Outcome::Found,
        (true, false) if done.is_withheld() => Outcome::Withheld,
        (true, false) => Outcome::Open,
        (true, true) => Outcome::Holds,
    };
    let outcome = all.iter().map(of).max().unwrap_or(Outcome::Holds);
    if as_json {
        let document =
            json!({ "version": sotto_owner::VERSION, "holds": outcome == Outcome::Holds, "answers": all });
        say(serde_json::to_string_pretty(&document).unwrap_or_default());
    } else if all.is_empty() {
        say("no answer was kept in that time");
    } else {
        all.iter().flat_map(lines).for_each(say);
    }
    outcome
}

/// Runs `work`. Draws a bar on standard error once it takes more than two seconds.
pub(super) fn repeating<T>(
    work: impl FnOnce(OnVerified<'_>) -> Result<T, OwnerError>,
) -> Result<T, OwnerError> {
    let bar = ProgressBar::hidden();
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let (begin, mut shown) = (Instant::now(), false);
    let done = work(&mut |now, all| {
        if !shown && begin.elapsed() >= PATIENCE {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.set_message("repeating");
            shown = true;
        }
        bar.set_length(all);
        bar.set_position(now);
    });
    bar.finish_and_clear();
    done
}

fn lines(done: &Verification) -> Vec<String> {
    let Verification {
        answer,
        question,
        work,
        tagged,
        repeated,
        windows,
        bytes,
        seconds,
        repeat_us,
        cloud_us,
        ..
    } = done;
    let seconds_of = |us: u64| format!("{:.4}", us as f64 / 1e6);
    let mut lines = vec![format!("{answer}  {question}")];
    if *tagged > 0 {
        lines.push(format!(
            "  sums over {tagged} windows carried tags, which were checked when you asked: there is nothing to repeat"
        ));
    }
    if *work > 0 {
        lines.push(format!(
            "  {repeated} of {work} pieces of work repeated on {windows} signed windows, {bytes} bytes fetched, {seconds:.3} s in all"
        ));
        lines.push(format!(
            "  the work alone: {} s here, {} s in the cloud by its word",
            seconds_of(*repeat_us),
            seconds_of(*cloud_us)
        ));
    }
    if !done.pinned {
        lines.push("  the cloud's key is not pinned: see `sotto cloud show`".to_owned());
    }
    lines.extend(done.findings.iter().map(|finding| format!("  work {}: {}", finding.work, finding.lie)));
    lines.extend(done.open.iter().map(|open| format!("  work {} is not verified: {}", open.work, open.lie)));
    if done.findings.is_empty() && !done.open.is_empty() {
        lines.push(match (done.is_withheld(), done.open_days) {
            (true, days) => format!(
                "  NOT REPEATED ON {days} DAYS: the cloud is away, or holds back what it takes to find a lie; do not act on this answer"
            ),
            (false, 0) => "  not verified: part of the work could not be repeated".to_owned(),
            (false, days) => format!("  not verified: part of the work could not be repeated, on {days} of 3 days"),
        });
        return lines;
    }
    lines.push(match done.findings.len() {
        0 if *work == 0 => "  holds: every sum is the one that was asked for".to_owned(),
        0 if repeated == work => "  holds: every output is the one that the plan gives".to_owned(),
        0 => "  holds as far as it was sampled".to_owned(),
        _ => "  DOES NOT HOLD: do not act on this answer, do not share it".to_owned(),
    });
    lines
}
