//! `sotto report`: a page of questions with charts and text, written to a file or sent by e-mail.

mod file;
mod mail;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use sotto_owner::question::{Question, Template, When};
use sotto_owner::{Answer, OwnerError, Plant, moment};

use self::file::File;
pub(crate) use self::file::Shown;
use super::verify::repeating;
use super::{Place, show};
use crate::output::say;
use crate::run::Run;

/// Arguments of `sotto report`.
#[derive(clap::Args, Debug)]
#[command(group = clap::ArgGroup::new("to").required(true).multiple(true).args(["html", "mail"]))]
pub(crate) struct Report {
    /// The report: a TOML file with a title, and sections with heading, text, question and chart
    file: PathBuf,
    /// Write the page to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Send the page to these addresses, by the server of `sotto alarm mail`: 'ann@farm.example, bo@farm.example'
    #[arg(long, value_name = "ADDRESSES")]
    mail: Option<String>,
    /// Count `during today` and `over 24h` from this time, in the plant's time zone [default: this machine's clock and, for
    /// `over`, the end of the newest window]
    #[arg(long, value_name = "TIME")]
    now: Option<When>,
    /// Repeat the cloud's work on what carries no tags, as `sotto verify` does; without it such values are left out of the page
    #[arg(long)]
    verify: bool,
    #[command(flatten)]
    place: Place,
}

/// A section with its answer.
pub(crate) struct Answered<'a> {
    pub(crate) heading: &'a str,
    pub(crate) text: &'a str,
    pub(crate) shown: Shown,
    /// The question as it was written, and its answer or the reason why there is none.
    pub(crate) answer: Option<(&'a str, Result<&'a Answer, String>)>,
}

/// The answer to a question, or the reason why there is none with its exit code.
type Outcome = Result<Answer, (String, u8)>;

impl Run for Report {
    fn run(self) -> anyhow::Result<ExitCode> {
        let file = File::read(&self.file)?;
        let plant = self.place.open()?;
        let post = self.mail.as_ref().map(|to| mail::Post::new(&plant, to)).transpose()?;
        let outcomes = Outcomes::of(&plant, &file, &self)?;
        let sections = outcomes.sections(&file);
        let page = show::report(&file.title, &file.text, &sections);
        if let Some(to) = &self.html {
            std::fs::write(to, &page)
                .map_err(|error| anyhow::anyhow!("{} cannot be written: {error}", to.display()))?;
            say(format!("{}: {}", to.display(), show::counted(sections.len() as u64, "section")));
        }
        if let Some(post) = post {
            post.send(&file.title, &mail::text(&file, &sections), page)?;
            say(format!("sent to {}", post.addresses()));
        }
        for (question, reason) in outcomes.failures() {
            eprintln!("sotto: {question}: {reason}");
        }
        Ok(ExitCode::from(outcomes.exit_code()))
    }
}

/// The values of a question's parameters.
type Values = BTreeMap<String, String>;

/// Parses the question of a section with the values of its parameters.
fn filled(plant: &Plant, text: &str, values: &Values) -> Result<Question, OwnerError> {
    let declared =
        plant.settings().questions.get(text.trim()).map_or(text, |declared| declared.text.as_str());
    let template = Template::read(declared).map_err(|error| OwnerError::Question(error.to_string()))?;
    let mut missing = template.parameters();
    missing.retain(|name| !values.contains_key(*name));
    if missing.is_empty() {
        return plant.question_filled(text, values, None, None);
    }
    let each: Vec<String> = missing.iter().map(|name| format!("{name} = \"…\"")).collect();
    Err(OwnerError::Question(format!(
        "the question has parameters without a value: write with = {{ {} }} into the section",
        each.join(", ")
    )))
}

/// The questions of a report with their answers, each once.
struct Outcomes {
    /// By the text of the question; in order of their first sections.
    all: Vec<(String, Outcome)>,
    /// For each section the position of its question.
    of: Vec<Option<usize>>,
}

impl Outcomes {
    /// Asks the questions of a report. Questions that are the same are asked once.
    fn of(plant: &Plant, file: &File, arguments: &Report) -> Result<Self, OwnerError> {
        let now = match &arguments.now {
            Some(when) => Some(moment(when, &plant.settings().clock()?)?),
            None => None,
        };
        let read = |text: &str, values: &Values| {
            let question = filled(plant, text, values)?;
            let clock = plant.settings().clock()?;
            let later = now.and_then(|now| question.clone().back_from(now, &clock));
            Ok(later.unwrap_or(question))
        };
        let ask = |question: &Question| {
            let answer = plant.ask(question, &mut |_, _| {})?;
            if arguments.verify {
                return repeating(|progress| plant.verify_asked(answer, progress));
            }
            Ok(answer)
        };
        let of = |section: &'_ file::Section| {
            section.question.as_deref().map(|text| (text.to_owned(), section.with.clone()))
        };
        let questions = file.sections.iter().map(of);
        Ok(Self::asked(questions, read, ask))
    }

    fn asked(
        questions: impl Iterator<Item = Option<(String, Values)>>,
        read: impl Fn(&str, &Values) -> Result<Question, OwnerError>,
        mut ask: impl FnMut(&Question) -> Result<Answer, OwnerError>,
    ) -> Self {
        let (mut all, mut known): (Vec<(String, Outcome)>, Vec<Option<Question>>) = (Vec::new(), Vec::new());
        let failed = |error: OwnerError| (error.to_string(), error.exit_code());
        let of = questions.map(|asked| {
            let (text, values) = asked?;
            let question = match read(&text, &values) {
                Ok(question) => question,
                Err(error) => {
                    all.push((text, Err(failed(error))));
                    known.push(None);
                    return Some(all.len() - 1);
                }
            };
            if let Some(at) = known.iter().position(|known| known.as_ref() == Some(&question)) {
                return Some(at);
            }
            let outcome = ask(&question).map(|answer| answer.checked().into_owned()).map_err(failed);
            all.push((text, outcome));
            known.push(Some(question));
            Some(all.len() - 1)
        });
        let of = of.collect();
        Self { all, of }
    }

    fn sections<'a>(&'a self, file: &'a File) -> Vec<Answered<'a>> {
        let each = file.sections.iter().zip(&self.of);
        each.map(|(section, at)| Answered {
            heading: &section.heading,
            text: &section.text,
            shown: section.chart,
            answer: section.question.as_deref().zip(*at).map(|(question, at)| {
                (question, self.all[at].1.as_ref().map_err(|(reason, _)| reason.clone()))
            }),
        })
        .collect()
    }

    /// Iterates over the questions without an answer or without a value, with the reasons.
    fn failures(&self) -> impl Iterator<Item = (&str, &str)> {
        self.all.iter().filter_map(|(question, outcome)| match outcome {
            Err((reason, _)) => Some((question.as_str(), reason.as_str())),
            Ok(answer) => answer.empty.as_ref().map(|empty| (question.as_str(), empty.reason.as_str())),
        })
    }

    /// Returns the exit code of the first question without an answer or without a value; 0 if there is none.
    fn exit_code(&self) -> u8 {
        let code = |outcome: &Outcome| match outcome {
            Err((_, code)) => Some(*code),
            Ok(answer) => answer.empty.as_ref().map(|empty| empty.exit_code),
        };
        self.all.iter().find_map(|(_, outcome)| code(outcome)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use sotto_owner::{Cause, Empty};

    use super::*;
    use crate::plant::show::fixture::{answer, hourly};

    #[test]
    fn the_same_question_is_asked_once_and_a_failure_stops_no_other() {
        let mut asked = Vec::new();
        let texts = ["mean(t) by hour", "mean( t )  by hour", "meen(t)", "mean(u)"]
            .into_iter()
            .map(|text| Some((text.to_owned(), Values::new())))
            .chain([None]);
        let read = |text: &str, _: &Values| {
            Question::parse(text).map_err(|error| OwnerError::Question(error.to_string()))
        };
        let outcomes = Outcomes::asked(texts, read, |question| {
            asked.push(question.to_string());
            match question.to_string().as_str() {
                "mean(u)" => Err(OwnerError::NotEnrolled("no device".to_owned())),
                _ => Ok(answer(hourly("mean(t)", &[Some(1.0)]))),
            }
        });
        assert_eq!(asked, ["mean(t) by hour", "mean(u)"]);
        assert_eq!(outcomes.of, [Some(0), Some(0), Some(1), Some(2), None]);
        assert_eq!(outcomes.exit_code(), 4, "the first one that fails");
        let failed: Vec<&str> = outcomes.failures().map(|(question, _)| question).collect();
        assert_eq!(failed, ["meen(t)", "mean(u)"]);
    }

    #[test]
    fn a_question_without_a_value_has_its_reason() {
        let empty = Empty { cause: Cause::OtherTime, exit_code: 11, reason: "nothing that day".to_owned() };
        let empty = Answer { empty: Some(empty), ..answer(hourly("mean(t)", &[None])) };
        let outcomes = Outcomes { all: vec![("mean(t)".to_owned(), Ok(empty))], of: vec![Some(0)] };
        assert_eq!(outcomes.failures().collect::<Vec<_>>(), [("mean(t)", "nothing that day")]);
        assert_eq!(outcomes.exit_code(), 11);
    }
}
