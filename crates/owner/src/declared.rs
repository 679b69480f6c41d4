//! Questions: parsed for a plant, and compared with the streams of its devices.

use std::path::Path;

use crate::choose::largest_result;
use crate::device::{DeviceRecord, parameter_spec};
use crate::error::OwnerError;
use crate::files::read_text;
use crate::needs::{self, Kind, StreamNeeds};
use crate::plant::Plant;
use crate::question::{By, Call, Clause, LinearModel, Period, Places, Question, Reading, When, unit_of};
use crate::settings::Compare;

/// Largest file of a model, in bytes.
const LARGEST_MODEL: u64 = 64 << 10;

impl Plant {
    /// Parses a text for this plant: the name of a declared question, or a question in the language. Reads models from
    /// files in the working directory or in the plant's folder.
    ///
    /// # Errors
    /// [`OwnerError::Question`], which points at the place in the text.
    pub fn question(&self, text: &str) -> Result<Question, OwnerError> {
        let declared = self.settings().questions.get(text.trim());
        let name = text.trim();
        if declared.is_none() && sotto_program::is_name(name) {
            let known: Vec<&str> = self.settings().questions.keys().map(String::as_str).take(20).collect();
            let known = if known.is_empty() { "none yet".to_owned() } else { known.join(", ") };
            return Err(OwnerError::Question(format!(
                "there is no question {name} in sotto.toml (declared: {known}); a question in the language has a function, such as mean({name})"
            )));
        }
        let text = declared.map_or(text, |declared| declared.text.as_str());
        let (mut question, places) =
            Question::parse_with_places(text).map_err(|error| OwnerError::Question(error.to_string()))?;
        self.check_question(&mut question, &places)?;
        Ok(question)
    }

    /// Checks a question's channels, devices and units, and reads its models from their files.
    pub(crate) fn check_question(&self, question: &mut Question, places: &Places) -> Result<(), OwnerError> {
        let at = |error: crate::question::QuestionError| OwnerError::Question(error.to_string());
        for file in question.missing_models() {
            let model = self.model(&file).map_err(|reason| at(places.error_at_file(&file, reason)))?;
            let attached = question.attach_model(&file, &model);
            attached.map_err(|error| at(places.error_at_file(&file, error.to_string())))?;
        }
        for channel in question.channels() {
            if !self.settings().channels.contains_key(&channel) {
                return Err(at(places.error_at_channel(&channel, self.settings().no_channel(&channel))));
            }
        }
        for device in question.only.iter().flatten() {
            if !self.settings().devices.contains_key(device) {
                let known: Vec<&str> = self.settings().devices.keys().map(String::as_str).take(20).collect();
                let reason = format!("there is no device {device}; there are {}", known.join(", "));
                return Err(at(places.error_at_device(device, reason)));
            }
        }
        for (index, selected) in question.select.iter().enumerate() {
            if let Err(error) = unit_of(&selected.expression, self.settings()) {
                return Err(at(places.error_at_selected(index, error.to_string())));
            }
        }
        let every = |channel: &String| self.settings().channels.get(channel).map(|channel| channel.every);
        let mut all: Vec<_> = question.channels().iter().filter_map(every).collect();
        all.dedup();
        if question.by == Some(By::Window) && all.len() > 1 {
            let reason = "channels of different periods have windows of their own: ask for them one at a time, or by hour or day";
            return Err(at(places.error_at_clause(Clause::By, reason)));
        }
        for (index, call) in question.calls().enumerate() {
            let period = |channel: &&str| self.settings().channels.get(*channel).map(|channel| channel.every);
            let mut periods: Vec<_> = call.channels().iter().filter_map(period).collect();
            periods.dedup();
            if periods.len() > 1 {
                let reason = "its channels are read at different periods: only readings of the same time can be combined";
                return Err(at(places.error_at_call(index, reason)));
            }
        }
        Ok(())
    }

    /// Parses a text like [`Plant::question`], and replaces the question's start and end by those given:
    /// `2014-01-31` or `2014-01-31T12:00`, in the plant's time zone.
    ///
    /// # Errors
    /// [`OwnerError::Question`] if the text, the start or the end cannot be read, or the question has an `over` clause.
    pub fn question_between(
        &self,
        text: &str,
        since: Option<&str>,
        until: Option<&str>,
    ) -> Result<Question, OwnerError> {
        let mut question = self.question(text)?;
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
                Period::Over(_) => {
                    let reason = "`over` in the question excludes a start or an end given beside it: leave one of them out";
                    return Err(OwnerError::Question(reason.to_owned()));
                }
            };
            question.period = Period::Between { since: since.or(asked_since), until: until.or(asked_until) };
        }
        Ok(question)
    }

    /// Parses the declared questions for this plant.
    ///
    /// # Errors
    /// Those of [`Plant::question`].
    pub fn questions(&self) -> Result<std::collections::BTreeMap<String, Question>, OwnerError> {
        let named = |name: &String| Ok((name.clone(), self.question(name)?));
        self.settings().questions.keys().map(named).collect()
    }

    /// Returns true if the cloud compares a polynomial or a model with limits: a declared question with a condition on it says
    /// so.
    pub(crate) fn compares_in_cloud(&self, reading: &Reading) -> bool {
        let declared = self.settings().questions.iter();
        declared.filter(|(_, question)| question.compare == Compare::Cloud).any(|(name, _)| {
            let question = self.question(name);
            question.is_ok_and(|question| {
                let mut conditions = question.calls().filter_map(Call::condition);
                conditions.any(|condition| condition.reading == *reading)
            })
        })
    }

    fn model(&self, file: &str) -> Result<LinearModel, String> {
        let beside = self.folder().join(file);
        let path = if Path::new(file).exists() { Path::new(file) } else { beside.as_path() };
        let json = read_text(path, LARGEST_MODEL).map_err(|error| error.to_string())?;
        LinearModel::parse(json.as_bytes()).map_err(|error| error.to_string())
    }

    /// Returns the enrolled devices that a question concerns, each with the reason why its latest bundle does not
    /// suffice, if so. `name` is the name of a declared question, whose precision and place of comparisons count; else empty.
    ///
    /// # Errors
    /// [`OwnerError`] if a record is damaged.
    pub fn carried_by(
        &self,
        name: &str,
        question: &Question,
    ) -> Result<Vec<(String, Option<String>)>, OwnerError> {
        let mut devices = Vec::new();
        let asked = std::collections::BTreeMap::from([(name.to_owned(), question.clone())]);
        for (name, record) in self.devices()? {
            let Some(device) = self.settings().devices.get(&name) else { continue };
            let mut streams = needs::of_device(self.settings(), &asked, &name, device);
            // The device is not needed for streams that no question needs.
            streams.retain(|stream| !stream.questions.is_empty());
            if !streams.is_empty() {
                let lacking = streams.iter().find_map(|stream| lacks(&record, stream));
                devices.push((name, lacking));
            }
        }
        Ok(devices)
    }
}

/// Returns the reason why a device's latest bundle does not support a stream; None if it does.
fn lacks(record: &DeviceRecord, stream: &StreamNeeds) -> Option<String> {
    let latest = record.bundles.last()?;
    let of_kind = |profile: &&sotto_pack::StreamProfile| {
        Kind::of_profile(profile) == Some(stream.kind) && profile.period_ms == Some(stream.period)
    };
    let Some(profile) = latest.streams.iter().find(of_kind) else {
        return Some(format!("it sends no {} stream", stream.kind.word()));
    };
    let has = |name: &String| profile.channels.iter().any(|channel| channel.name == *name);
    if let Some(missing) = stream.channels.iter().find(|name| !has(name)) {
        return Some(format!("it does not send {missing}"));
    }
    let Ok(spec) = parameter_spec(&profile.parameters) else {
        return Some("its parameters are damaged".to_owned());
    };
    let chosen = crate::choose::fits(stream, &spec, profile);
    let layout = crate::ask::layout_of(profile, &spec);
    let holds = layout.is_ok_and(|layout| {
        stream.kind != Kind::Exact
            || profile.compact.is_some()
            || largest_result(&layout, &stream.needs) * 2.0
                < crate::choose::MOST_WINDOWS as f64 * spec.plain as f64
    });
    match chosen {
        Err(reason) => Some(reason),
        Ok(()) if !holds => Some("its plain modulus is too small for the results".to_owned()),
        Ok(()) => None,
    }
}
