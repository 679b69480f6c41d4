//! `sotto question`: questions that are asked again and again.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Subcommand;
use serde_json::json;
use sotto_owner::question::{ExactScheme, Question as Asked, Template};
use sotto_owner::settings::{Compare, QuestionSettings};
use sotto_owner::{Change, OwnerError, Plant, edit};

use super::from_readings;
use super::group::OnPlant;
use super::options::{is_free, options};
use super::price::{Declaring, bundles_json, changes, prices, say_bundles, say_changes, say_dry};
use super::progress::waiting;
use crate::output::say;

/// The commands of `sotto question`.
#[derive(Subcommand, Debug)]
pub(crate) enum Question {
    /// Declare a question. Devices that are added later send the streams that it needs.
    Add {
        /// Its name
        name: String,
        /// Its text, such as 'mean(temperature) by day'
        #[arg(allow_hyphen_values = true, add = clap_complete::ArgValueCompleter::new(crate::complete::question))]
        text: String,
        /// The largest error that noise may add to a value of a polynomial or a model; exact results need none
        #[arg(long, value_name = "X")]
        precision: Option<f64>,
        /// Where polynomials and models are compared with limits, as in count(linear(model.json) > 80): by the owner, who
        /// decrypts the values, or in the cloud, so that the owner decrypts yes, no or undecided. The precision is then
        /// the largest distance from the limit at which a value may be undecided
        #[arg(long, value_enum, default_value = "owner", value_name = "WHERE")]
        compare: Where,
        /// Encrypt the readings of exact results under bfv or bgv, and let the cloud evaluate them; without it they are sums
        /// with tags, which are far smaller
        #[arg(long, value_name = "SCHEME")]
        scheme: Option<ExactScheme>,
        #[command(flatten)]
        declaring: Declaring,
    },
    /// Take a question out of sotto.toml.
    Remove {
        /// Its name
        #[arg(add = clap_complete::ArgValueCompleter::new(crate::complete::saved))]
        name: String,
    },
    /// List the questions.
    List {
        /// As one JSON document
        #[arg(long)]
        json: bool,
    },
}

/// The place of a comparison.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
pub(crate) enum Where {
    Owner,
    Cloud,
}

impl From<Where> for Compare {
    fn from(place: Where) -> Self {
        match place {
            Where::Owner => Self::Owner,
            Where::Cloud => Self::Cloud,
        }
    }
}

impl OnPlant for Question {
    fn run(self, plant: &mut Plant) -> anyhow::Result<ExitCode> {
        match self {
            Self::Add { name, text, precision, compare, scheme, declaring } => {
                let declared = QuestionSettings { text, precision, compare: compare.into(), scheme };
                add(plant, &name, &declared, declaring)?;
            }
            Self::Remove { name } => {
                plant.edit(|document| edit::remove_question(document, &name))?;
                say(format!("question {name}: removed"));
            }
            Self::List { json: true } => say(serde_json::to_string_pretty(&with_parameters(plant)?)?),
            Self::List { json: false } => {
                for (name, question) in &plant.settings().questions {
                    let under =
                        question.scheme.map_or_else(String::new, |scheme| format!(", under {scheme}"));
                    let asked = asked_with(&question.text);
                    say(format!("{name}: {}{under}{asked}", question.text));
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A question that was declared, or would be.
pub(crate) struct Declaration {
    pub(crate) question: Asked,
    pub(crate) changes: Vec<Change>,
    /// For each device that it concerns the reason why its bundle does not suffice, if so.
    pub(crate) bundles: Vec<(String, Option<String>)>,
}

/// Declares a question. With `dry_run` finds its price alone.
pub(crate) fn declare_question(
    plant: &mut Plant,
    name: &str,
    declared: &QuestionSettings,
    dry_run: bool,
) -> anyhow::Result<Declaration> {
    let text = &declared.text;
    let question = Asked { scheme: declared.scheme, ..plant.new_question(text)? };
    let names = parameters_of(text);
    if let Some(name) = names.iter().find(|name| !is_free(name, &options())) {
        let reason = format!("--{name} is an option of sotto ask: take another name in the place of ${name}");
        return Err(OwnerError::Argument(reason).into());
    }
    if let Some(precision) = declared.precision {
        plant.check_precision(&question, precision)?;
    }
    if declared.compare == Compare::Cloud && !question.calls().any(sotto_owner::can_compare_in_cloud) {
        let reason = format!(
            "--compare cloud is for conditions on polynomials and models, as in count(linear(model.json) > 80), and {name} has none: leave it out. A channel is compared in the cloud if it is comparable (sotto channel add … --comparable)"
        );
        return Err(OwnerError::Argument(reason).into());
    }
    let after = plant.edited(|document| edit::add_question(document, name, declared))?;
    let changes = changes(&after, &prices(plant), prices(&after))?;
    let bundles = waiting("choosing parameters", || after.carried_by(name, &question))?;
    if !dry_run {
        plant.edit(|document| edit::add_question(document, name, declared))?;
    }
    Ok(Declaration { question, changes, bundles })
}

fn add(
    plant: &mut Plant,
    name: &str,
    declared: &QuestionSettings,
    Declaring { dry_run, json }: Declaring,
) -> anyhow::Result<()> {
    let Declaration { question, changes, bundles } = declare_question(plant, name, declared, dry_run)?;
    let question = &question;
    if json {
        let report = json!({
            "question": name, "text": question.to_string(), "remarks": question.remarks, "dry_run": dry_run, "prices": changes,
            "bundles": bundles_json(&bundles),
        });
        say(serde_json::to_string_pretty(&report)?);
        return Ok(());
    }
    let under = declared.scheme.map_or_else(String::new, |scheme| format!(", under {scheme}"));
    // Parameters have no value yet, and `*` follows new channels.
    let is_open = is_open(&declared.text);
    let shown = if is_open { declared.text.clone() } else { question.to_string() };
    say(format!("question {name}: {shown}{under}{}", asked_with(&declared.text)));
    question.remarks.iter().for_each(|remark| say(format!("  {remark}")));
    from_readings::declared(question);
    say_changes(&changes);
    say_bundles("the question", &bundles, &changes);
    if dry_run {
        say_dry();
    }
    Ok(())
}

/// Returns the names of a text's parameters; none if it cannot be read.
pub(crate) fn parameters_of(text: &str) -> Vec<String> {
    let names = |text: Template| text.parameters().into_iter().map(str::to_owned).collect();
    Template::read(text).map(names).unwrap_or_default()
}

/// Returns true if a text has parameters or `*`.
fn is_open(text: &str) -> bool {
    let template = Template::read(text);
    template.is_ok_and(|text| {
        !text.parameters().is_empty() || text.general().is_ok_and(|(question, _)| question.has_star())
    })
}

/// Returns the options with which a text is asked, in words; empty if it has no parameters.
fn asked_with(text: &str) -> String {
    let names = parameters_of(text);
    let options: Vec<String> = names.iter().map(|name| format!("--{name} {}", name.to_uppercase())).collect();
    if options.is_empty() { String::new() } else { format!("; asked with {}", options.join(" ")) }
}

/// Returns the declared questions with their parameters.
fn with_parameters(plant: &Plant) -> serde_json::Result<BTreeMap<String, serde_json::Value>> {
    let one = |(name, question): (&String, &QuestionSettings)| {
        let mut settings = serde_json::to_value(question)?;
        let names = parameters_of(&question.text);
        settings["parameters"] = json!(names);
        Ok((name.clone(), settings))
    };
    plant.settings().questions.iter().map(one).collect()
}
