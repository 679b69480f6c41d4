//! Questions, parsed and checked for a plant.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sotto_pack::ChannelKind;

use super::apart::apart;
use super::plant::Plant;
use super::possible;
use super::settings::{ChannelSettings, Compare};
use super::{known_tags, star};
use crate::devices;
use crate::error::OwnerError;
use crate::files::read_text;
use crate::functions::{Call, Yields};
use crate::language::{
    Days, LinearModel, Measurand, Period, QuestionError, Scope, Tariff, TextSpans, When, near,
};
use crate::question::{NotFilled, Priced, Question, Selected, Template, conversion, priced_unit, unit_of};

/// Largest file of a model, in bytes.
const LARGEST_MODEL: u64 = 64 << 10;
/// Largest file of a tariff, in bytes.
const LARGEST_TARIFF: u64 = 64 << 10;
/// Largest file of days, in bytes.
const LARGEST_DAYS: u64 = 256 << 10;

/// Parses a text for this plant: the name of a declared question, or a question in the language. Reads models from
/// files in the working directory or in the plant's folder. Refuses a question that cannot work.
pub(crate) fn question(plant: &Plant, text: &str) -> Result<Question, OwnerError> {
    question_with(plant, text, &BTreeMap::new())
}

/// Parses a text like [`question`], with values of its parameters.
fn question_with(
    plant: &Plant,
    text: &str,
    values: &BTreeMap<String, String>,
) -> Result<Question, OwnerError> {
    let (question, places) = parsed(plant, text, Some(values))?;
    known_tags::check_known(plant, &places)?;
    possible::check(plant, &question, &places, false)?;
    Ok(question)
}

/// Parses a text like [`question`] for the streams that it needs, whatever the values of its parameters.
pub(crate) fn planned_question(plant: &Plant, text: &str) -> Result<Question, OwnerError> {
    let (question, places) = parsed(plant, text, None)?;
    known_tags::check_known(plant, &places)?;
    possible::check(plant, &question, &places, false)?;
    Ok(question)
}

/// Parses a question that is being declared. Also refuses one that no reading within the declared ranges can answer.
pub(crate) fn new_question(plant: &Plant, text: &str) -> Result<Question, OwnerError> {
    let (question, places) = parsed(plant, text, None)?;
    known_tags::check_known(plant, &places)?;
    possible::check(plant, &question, &places, true)?;
    Ok(question)
}

/// Parses a question with values of its parameters; without any it is the one about all devices and times, by which streams
/// are chosen.
fn parsed(
    plant: &Plant,
    text: &str,
    values: Option<&BTreeMap<String, String>>,
) -> Result<(Question, TextSpans), OwnerError> {
    let declared = plant.settings().questions.get(text.trim());
    let name = text.trim();
    if declared.is_none() && sotto_program::is_name(name) {
        let known: Vec<&str> = plant.settings().questions.keys().map(String::as_str).take(20).collect();
        let known = if known.is_empty() { "none yet".to_owned() } else { known.join(", ") };
        return Err(OwnerError::Question(format!(
            "there is no question {name} in sotto.toml (declared: {known}); a question in the language has a function, such as mean({name})"
        )));
    }
    let text = declared.map_or(text, |declared| declared.text.as_str());
    let wrong = |error: QuestionError| OwnerError::Question(error.to_string());
    let template = Template::read(text).map_err(wrong)?;
    let (mut question, mut places) = match values {
        None => template.general(),
        Some(values) => {
            let filled =
                template.filled(values).map_err(|error| not_filled(declared.map(|_| name), &error))?;
            Question::parse_with_places(&filled)
        }
    }
    .map_err(wrong)?;
    if question.has_star() {
        star::expand(plant, &mut question)?;
        places = question.places().map_err(wrong)?;
    }
    check(plant, &mut question, &places)?;
    question.scheme = declared.and_then(|declared| declared.scheme);
    Ok((question, places))
}

/// Returns the error of a question whose parameters have no values.
fn not_filled(name: Option<&str>, error: &NotFilled) -> OwnerError {
    let name = name.unwrap_or("QUESTION");
    OwnerError::Question(match error {
        NotFilled::Missing(_) => format!("{name}: {error}, as in `sotto ask {name} {}`", error.usage()),
        _ => format!("{name}: {error}"),
    })
}

/// Checks a question's channels, devices and units, and reads its models from their files.
pub(crate) fn check(plant: &Plant, question: &mut Question, places: &TextSpans) -> Result<(), OwnerError> {
    let at = |error: QuestionError| OwnerError::Question(error.to_string());
    for file in question.missing_models() {
        let model = model(plant, &file).map_err(|reason| at(places.error_at_file(&file, reason)))?;
        let attached = question.attach_model(&file, &model);
        attached.map_err(|error| at(places.error_at_file(&file, error.to_string())))?;
    }
    if let Some(file) = question.missing_days().map(str::to_owned) {
        let days = days(plant, &file).map_err(|reason| at(places.error_at_file(&file, reason)))?;
        question.attach_days(days);
    }
    for file in question.missing_tariffs() {
        let tariff = tariff(plant, &file).map_err(|reason| at(places.error_at_file(&file, reason)))?;
        question.attach_tariff(&file, &tariff);
    }
    for channel in question.channels() {
        if !plant.settings().channels.contains_key(&channel) {
            return Err(at(places.error_at_channel(&channel, plant.settings().no_channel(&channel))));
        }
    }
    if let Some((channel, reason)) = number_states(plant, question) {
        return Err(at(places.error_at_channel(&channel, reason)));
    }
    check_devices(plant, question.only.as_deref(), &question.channels(), places)?;
    let scopes = question.calls_of().filter_map(|(_, of)| of);
    let named = scopes.filter_map(|of| if let Scope::Device(name) = of { Some(name) } else { None });
    let of_two = question.calls().flat_map(Call::two_devices).filter(|of| !of.is_open());
    let named: Vec<String> = named.chain(of_two.map(|of| &of.device)).cloned().collect();
    check_devices(plant, Some(&named), &question.channels(), places)?;
    for (index, selected) in question.select.iter().enumerate() {
        let Selected { expression, unit, .. } = selected;
        let found = unit_of(expression, plant.settings()).map_err(|error| error.to_string());
        let converted = found.and_then(|_| conversion(expression, unit.as_deref(), plant.settings()));
        converted.map_err(|error| at(places.error_at_selected(index, error)))?;
    }
    for Priced { of, file, tariff, .. } in question.priced() {
        if let (Some(tariff), Yields::One(one)) = (tariff, of.of().yields()) {
            let converted = priced_unit(&one.unit(plant.settings()), tariff);
            converted.map_err(|error| at(places.error_at_file(file, error)))?;
        }
    }
    if let Some((index, reason)) = apart(plant, question) {
        return Err(at(places.error_at_call(index, reason)));
    }
    // Readings of two devices are joined also where their periods differ.
    for (index, call) in question.calls().enumerate().filter(|(_, call)| call.two_devices().is_empty()) {
        let period = |channel: &&str| plant.settings().channels.get(*channel).map(|channel| channel.every);
        let mut periods: Vec<_> = call.channels().iter().filter_map(period).collect();
        periods.dedup();
        if periods.len() > 1 {
            let reason =
                "its channels are read at different periods: only readings of the same time can be combined";
            return Err(at(places.error_at_call(index, reason)));
        }
    }
    Ok(())
}

/// Checks the devices that a question or an alarm names.
pub(super) fn check_devices(
    plant: &Plant,
    only: Option<&[String]>,
    channels: &BTreeSet<String>,
    places: &TextSpans,
) -> Result<(), OwnerError> {
    for device in only.into_iter().flatten() {
        if !plant.settings().devices.contains_key(device) && !plant.removed().contains_key(device) {
            if devices::was_destroyed(plant, device) {
                let reason = format!(
                    "the secret of {device} was destroyed with its record: `sotto device adopt {}.bundle` brings both back from a \
                     bundle; without a copy the readings of {device} are lost",
                    plant.wire_device(device)
                );
                let error = places.error_at_device(device, reason);
                return Err(OwnerError::SecretDestroyed(error.to_string()));
            }
            let known: Vec<&str> = plant.settings().devices.keys().map(String::as_str).collect();
            let near = near(device, &known).map_or_else(String::new, |near| format!("did you mean {near}? "));
            let there = match &known[..known.len().min(20)] {
                [] => "none is declared".to_owned(),
                known => format!("declared are {}", known.join(", ")),
            };
            let reason = format!(
                "there is no device {device}; {near}{there}. Declare and enrol it with `sotto device add {device} --channels {}`",
                channels.iter().map(String::as_str).collect::<Vec<_>>().join(",")
            );
            return Err(OwnerError::NotEnrolled(places.error_at_device(device, reason).to_string()));
        }
    }
    Ok(())
}

/// Gives the states that a question names their numbers. Returns the channel that lacks one, and the reason.
fn number_states(plant: &Plant, question: &mut Question) -> Option<(String, String)> {
    let mut lacking = None;
    question.change_conditions(&mut |condition| {
        let (Some(state), Measurand::Channel(channel)) = (&condition.state, &condition.reading) else {
            return;
        };
        let kind = plant.settings().channels.get(channel).map(ChannelSettings::kind);
        let number = match &kind {
            Some(ChannelKind::State(states)) => states.number(state),
            _ => None,
        };
        match (number, kind) {
            (Some(number), _) => condition.limit = number as f64,
            (None, Some(ChannelKind::State(states))) => {
                let reason =
                    format!("{channel} has no state {state}: its states are {}", states.states.join(", "));
                lacking.get_or_insert((channel.clone(), reason));
            }
            (None, _) => {
                let reason =
                    format!("{channel} has no states: compare it with a number, as in count({channel} > 0)");
                lacking.get_or_insert((channel.clone(), reason));
            }
        }
    });
    lacking
}

/// Parses a text like [`Plant::question`], and replaces the question's start and end by those given:
/// `2014-01-31` or `2014-01-31T12:00`, in the plant's time zone.
pub(crate) fn question_between(
    plant: &Plant,
    text: &str,
    values: &BTreeMap<String, String>,
    since: Option<&str>,
    until: Option<&str>,
) -> Result<Question, OwnerError> {
    let mut question = question_with(plant, text, values)?;
    let when = |text: Option<&str>| {
        let parse =
            |text: &str| text.parse::<When>().map_err(|error| OwnerError::Question(error.to_string()));
        text.map(parse).transpose()
    };
    let (since, until) = (when(since)?, when(until)?);
    if since.is_some() || until.is_some() {
        let (asked_since, asked_until) = match &question.period {
            Period::Between { since, until } => (since.clone(), until.clone()),
            Period::All => (None, None),
            Period::Over(_) | Period::During(_) => {
                let reason = "`over` or `during` in the question excludes a start or an end given beside it: leave one of them out";
                return Err(OwnerError::Question(reason.to_owned()));
            }
        };
        question.period = Period::Between { since: since.or(asked_since), until: until.or(asked_until) };
        if let Some(reason) = possible::empty(&question.period, &plant.settings().clock()?) {
            return Err(OwnerError::EmptyTime(reason));
        }
    }
    Ok(question)
}

/// Parses the declared questions for this plant. One that cannot work is refused when it is asked.
pub(crate) fn questions(plant: &Plant) -> Result<BTreeMap<String, Question>, OwnerError> {
    let named = |name: &String| Ok((name.clone(), parsed(plant, name, None)?.0));
    plant.settings().questions.keys().map(named).collect()
}

/// Returns true if the cloud compares a polynomial or a model with limits: a declared question with a condition on it says
/// so.
pub(crate) fn compares_in_cloud(plant: &Plant, reading: &Measurand) -> bool {
    let declared = plant.settings().questions.iter();
    declared.filter(|(_, question)| question.compare == Compare::Cloud).any(|(name, _)| {
        parsed(plant, name, None).is_ok_and(|(question, _)| {
            let mut conditions = question.calls().filter_map(Call::condition);
            conditions.any(|condition| condition.reading == *reading)
        })
    })
}

/// Reads a tariff with the days of its files.
fn tariff(plant: &Plant, file: &str) -> Result<Tariff, String> {
    let text = read_text(&found(plant, file), LARGEST_TARIFF).map_err(|error| error.to_string())?;
    let mut tariff = Tariff::parse(&text).map_err(|error| format!("{file}: {error}"))?;
    let files: BTreeSet<String> = tariff.missing_days().map(str::to_owned).collect();
    for name in files {
        let days = days(plant, &name).map_err(|reason| format!("{file}: {reason}"))?;
        tariff.attach_days(&name, &days);
    }
    Ok(tariff)
}

fn days(plant: &Plant, file: &str) -> Result<Days, String> {
    let text = read_text(&found(plant, file), LARGEST_DAYS).map_err(|error| error.to_string())?;
    Days::read(&text).map_err(|error| format!("{file}: {error}"))
}

/// Returns the path of a file in the working directory, else in the plant's folder.
fn found(plant: &Plant, file: &str) -> PathBuf {
    if Path::new(file).exists() { PathBuf::from(file) } else { plant.folder().join(file) }
}

fn model(plant: &Plant, file: &str) -> Result<LinearModel, String> {
    let json = read_text(&found(plant, file), LARGEST_MODEL).map_err(|error| error.to_string())?;
    LinearModel::parse(json.as_bytes()).map_err(|error| error.to_string())
}
