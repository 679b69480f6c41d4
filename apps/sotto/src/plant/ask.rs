//! `sotto ask`: a question, answered from the windows in the cloud.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use sotto_owner::question::{Duration, Question, QuestionError, When};
use sotto_owner::{Answer, Explanation, FETCHED, OwnerError, Plant, moment};
use sotto_pack::Clock;

use super::bytes::bytes;
use super::export::Export;
use super::parameters::{self, parameter};
use super::verify::repeating;
use super::{Place, show};
use crate::output::say;
use crate::run::Run;

/// Arguments of `sotto ask`.
#[derive(clap::Args, Debug)]
pub(crate) struct Ask {
    /// A question such as 'mean(temperature) by day', or the name of a declared one
    #[arg(allow_hyphen_values = true, add = clap_complete::ArgValueCompleter::new(crate::complete::question))]
    question: String,
    /// Use only windows from this time on: 2014-01-31 or 2014-01-31T12:00, in the plant's time zone; -7d is seven days before
    /// now
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,
    /// Use only windows that end by this time; -1d is a day before now
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    until: Option<String>,
    /// Count `over 24h` back from this machine's clock, in place of the end of the newest window. With --now=TIME, such as
    /// --now=2014-01-31T12:00, also `during today` and --since -7d count from this time
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true)]
    now: Option<Option<String>>,
    /// Give a parameter of the question its value, as room=kitchen; --room kitchen behind the question is the same
    #[arg(long = "with", value_name = "NAME=VALUE", value_parser = parameter)]
    values: Vec<(String, String)>,
    /// Answer from the windows that were there when an earlier answer was given, such as 20240301T101500.000Z: what came since,
    /// corrections too, counts for nothing (`sotto answers` lists them)
    #[arg(long, value_name = "ANSWER")]
    as_of: Option<String>,
    /// Let at most these bytes of readings come down for results that are computed from readings, as last(x) or longest(x > 80),
    /// or that windows do not hold, as a max(x) that is not declared: 500kB, 64MB, 1GB
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value_t = FETCHED, hide_default_value = true)]
    fetch: u64,
    /// Ask the cloud for every sum: take none of an earlier answer, and keep none (`sotto cache`)
    #[arg(long)]
    no_cache: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Draw the results over time in the terminal
    #[arg(long, conflicts_with = "json")]
    plot: bool,
    /// Write a page with charts to this file: values, bounds as bands, the steps of the computation
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    export: Export,
    /// Do not answer, but show the windows that the question uses, the sums that would come down and for which calls, their
    /// bytes, and who would learn what. Fetches the list of windows and nothing else
    #[arg(long, conflicts_with_all = ["as_of", "plot", "html", "csv", "parquet", "xlsx", "steps", "verify", "unchecked"])]
    explain: bool,
    /// Show the steps of the computation, its bytes and its time, after the answer
    #[arg(long, conflicts_with = "json")]
    steps: bool,
    /// Repeat the cloud's work on what carries no tags, on the windows as their devices signed them, as `sotto verify` does
    #[arg(long)]
    verify: bool,
    /// Put unchecked values into documents and files too: --json, --html, --csv, --parquet, --xlsx, the answer that is kept
    #[arg(long, conflicts_with = "verify")]
    unchecked: bool,
    /// Do not keep the answer in the plant's folder
    #[arg(long)]
    no_keep: bool,
    #[command(flatten)]
    place: Place,
}

impl Run for Ask {
    fn run(self) -> anyhow::Result<ExitCode> {
        if self.explain {
            let explained = match explained(&self) {
                Ok(explained) => explained,
                Err(error) => return self.refused(&error),
            };
            match self.json {
                true => say(serde_json::to_string_pretty(&explained)?),
                false => say(show::explained(&explained)),
            }
            return Ok(ExitCode::SUCCESS);
        }
        match answer(&self) {
            Ok(answer) => {
                present(&self, &answer)?;
                Ok(answer.empty.as_ref().map_or(ExitCode::SUCCESS, |empty| ExitCode::from(empty.exit_code)))
            }
            Err(error) => self.refused(&error),
        }
    }
}

impl Ask {
    /// Says why there is no answer. Returns the exit code.
    fn refused(&self, error: &OwnerError) -> anyhow::Result<ExitCode> {
        match self.json {
            true => say(serde_json::to_string_pretty(&failure(&self.question, error))?),
            false => eprintln!("sotto: {error}"),
        }
        Ok(ExitCode::from(error.exit_code()))
    }
}

fn explained(arguments: &Ask) -> Result<Explanation, OwnerError> {
    let plant = arguments.place.open()?;
    plant.explain(&question(&plant, arguments)?)
}

fn answer(arguments: &Ask) -> Result<Answer, OwnerError> {
    let plant = arguments.place.open()?.fetching_at_most(arguments.fetch);
    let plant = if arguments.no_cache { plant.without_cache() } else { plant };
    let question = question(&plant, arguments)?;
    let bar = ProgressBar::hidden();
    bar.set_style(
        ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} windows {eta}")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    let begin = std::time::Instant::now();
    let mut shown = false;
    let mut progress = |done, all| {
        // No bar for work of less than two seconds.
        if !shown && begin.elapsed().as_secs() >= 2 {
            bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
            bar.set_message("computing");
            shown = true;
        }
        bar.set_length(all);
        bar.set_position(done);
    };
    let answer = match &arguments.as_of {
        Some(earlier) => plant.ask_as_of(&question, earlier, &mut progress)?,
        None => plant.ask(&question, &mut progress)?,
    };
    bar.finish_and_clear();
    let answer = if arguments.verify { verified(&plant, answer)? } else { answer };
    let answer = if arguments.unchecked { answer.with_unchecked() } else { answer };
    if !arguments.no_keep {
        plant.keep(&answer)?;
    }
    Ok(answer)
}

/// Returns the question, with times that count from now in their place.
fn question(plant: &Plant, arguments: &Ask) -> Result<Question, OwnerError> {
    let clock = plant.settings().clock()?;
    let now = match &arguments.now {
        Some(Some(text)) => {
            let when: When =
                text.parse().map_err(|error: QuestionError| OwnerError::Question(error.to_string()))?;
            moment(&when, &clock)?
        }
        Some(None) | None => jiff::Timestamp::now().as_millisecond(),
    };
    let values = parameters::once(&arguments.values)?;
    let span = [arguments.since.as_deref(), arguments.until.as_deref()];
    asked(plant, &arguments.question, &values, span, now, arguments.now.is_some())
}

/// Returns a question over a span, whose ends may count back from `now`. With `counts`, its own times count from there, too.
pub(crate) fn asked(
    plant: &Plant,
    text: &str,
    values: &BTreeMap<String, String>,
    span: [Option<&str>; 2],
    now: i64,
    counts: bool,
) -> Result<Question, OwnerError> {
    let clock = plant.settings().clock()?;
    let [since, until] = span.map(|text| text.map(|text| before(text, now, &clock)).transpose());
    let question = plant.question_filled(text, values, since?.as_deref(), until?.as_deref())?;
    if !counts || span.into_iter().flatten().any(is_before) {
        return Ok(question);
    }
    question.back_from(now, &clock).ok_or_else(|| {
        OwnerError::Question(
            "--now counts from now, and the question says how far: `over 24h`, `during today`, or --since -7d"
                .to_owned(),
        )
    })
}

fn is_before(text: &str) -> bool {
    text.starts_with('-')
}

/// Returns the moment of `-7d`; any other text as it is.
fn before(text: &str, now: i64, clock: &Clock) -> Result<String, OwnerError> {
    let Some(length) = text.strip_prefix('-') else { return Ok(text.to_owned()) };
    let wrong = |reason: String| OwnerError::Question(reason);
    let length: Duration = length.parse().map_err(|error: QuestionError| wrong(error.to_string()))?;
    let beyond = || wrong(format!("{text} is before the calendar begins: give less"));
    Ok(length.back_from(now, clock).ok_or_else(beyond)?.as_str().to_owned())
}

/// Repeats the work behind an answer, after it has told the bytes that this fetches.
fn verified(plant: &Plant, answer: Answer) -> Result<Answer, OwnerError> {
    if answer.repeat_bytes > 0 {
        eprintln!(
            "repeating the cloud's work here: {} of messages are fetched",
            show::counted(answer.repeat_bytes, "byte")
        );
    }
    repeating(|progress| plant.verify_asked(answer, progress))
}

fn present(arguments: &Ask, answer: &Answer) -> anyhow::Result<()> {
    if let Some(file) = &arguments.html {
        std::fs::write(file, show::html(&answer.checked()))
            .map_err(|error| anyhow::anyhow!("{} cannot be written: {error}", file.display()))?;
    }
    if arguments.export.is_asked() {
        arguments.export.write(&answer.checked())?;
    }
    if arguments.json {
        say(serde_json::to_string_pretty(&*answer.checked())?);
        return Ok(());
    }
    // If there are no rows, a remark says so.
    match (answer.rows.is_empty(), arguments.plot) {
        (true, _) => {}
        (false, true) => say(show::plot(answer)),
        (false, false) => say(show::answer_text(answer)),
    }
    for line in answer.remarks() {
        say(line);
    }
    if arguments.steps {
        say(show::steps(answer));
    }
    if let Some(file) = &arguments.html {
        say(format!("{}: charts of the answer", file.display()));
    }
    arguments.export.tell();
    Ok(())
}

pub(super) fn failure(question: &str, error: &OwnerError) -> serde_json::Value {
    json!({"version": sotto_owner::VERSION, "question": question, "error": error.to_string(), "exit_code": error.exit_code()})
}
