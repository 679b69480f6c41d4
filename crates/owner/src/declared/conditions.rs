//! Conditions of alarms, parsed and checked for a plant.

use std::collections::BTreeMap;

use super::alarm::AlarmSettings;
use super::plant::Plant;
use super::{possible, questions};
use crate::alarm::Rule;
use crate::error::OwnerError;
use crate::functions::Call;
use crate::language::{By, QuestionError, TextSpans};
use crate::question::{Alarm, Question, unit_of};
use crate::streams::Kind;

/// A declared alarm, read for a plant.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let here = sotto_owner::NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
/// # let mut plant = sotto_owner::Plant::init(&folder.path().join("dairy"), &here)?;
/// # let (unit, range, every) = ("°C", "-20..120".parse()?, "5m".parse()?);
/// # let boiler = sotto_owner::settings::ChannelSettings::new(unit, range, 0.1, every);
/// # plant.edit(|settings| sotto_owner::edit::add_channel(settings, "boiler", &boiler))?;
/// use sotto_owner::alarm::{AlarmSettings, Declared};
/// use sotto_owner::edit::add_alarm;
///
/// // `plant` has the channel boiler.
/// let hot = AlarmSettings { clear: Some(75.0), ..AlarmSettings::new("boiler > 80 for 3 windows") };
/// plant.edit(|settings| add_alarm(settings, "hot", &hot))?;
/// let Declared { alarm, question, .. } = plant.alarm("hot")?;
/// assert_eq!(alarm.windows, 3);
/// assert_eq!(question.to_string(), "count(boiler > 80), count(boiler > 75) by window per device");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// The condition.
    pub alarm: Alarm,
    /// The alarm's table in `sotto.toml`.
    pub settings: AlarmSettings,
    /// The question whose answer decides.
    pub question: Question,
    /// The unit of the value compared.
    pub unit: String,
}

impl Declared {
    /// Returns when the alarm begins and ends.
    #[must_use]
    pub fn rule(&self) -> Rule {
        Rule { windows: self.alarm.windows, clear_after: self.settings.clear_after }
    }

    /// Returns the limit at which the alarm ends.
    #[must_use]
    pub fn clear(&self) -> f64 {
        self.settings.clear.unwrap_or(self.alarm.limit)
    }
}

impl Declared {
    /// Returns the question that decides about a device's streams.
    #[must_use]
    pub fn streams(&self) -> Question {
        Question { by: Some(By::Hour), ..self.question.clone() }
    }
}

/// Reads a condition for this plant: its channels, devices and units are checked. Refuses one that cannot hold.
pub(crate) fn condition(plant: &Plant, settings: &AlarmSettings) -> Result<Declared, OwnerError> {
    let (declared, places) = parsed(plant, settings)?;
    possible::check(plant, &declared.question, &places, true)?;
    Ok(declared)
}

fn parsed(plant: &Plant, settings: &AlarmSettings) -> Result<(Declared, TextSpans), OwnerError> {
    let wrong = |error: QuestionError| OwnerError::Question(error.to_string());
    let (alarm, places) = Alarm::parse_with_places(&settings.when).map_err(wrong)?;
    let mut question = alarm.question(settings.clear);
    questions::check(plant, &mut question, &places)?;
    let kinds = |call: &Call| Kind::of(&call.needs());
    let first = question.calls().next().map(kinds);
    if let Some(at) = question.calls().position(|call| Some(kinds(call)) != first) {
        let reason =
            "windows of polynomials and models are others than those of statistics: make two alarms of it";
        return Err(wrong(places.error_at_call(at, reason)));
    }
    let unit = question
        .select
        .first()
        .map(|selected| unit_of(&selected.expression, plant.settings()).unwrap_or_default());
    let unit = unit.unwrap_or_default();
    Ok((Declared { alarm, settings: settings.clone(), question, unit }, places))
}

pub(crate) fn alarm(plant: &Plant, name: &str) -> Result<Declared, OwnerError> {
    let settings = plant.settings().alarms.get(name);
    let none = || OwnerError::NotDeclared { kind: "alarm", name: name.to_owned() };
    Ok(parsed(plant, settings.ok_or_else(none)?)?.0)
}

/// Returns the questions that decide about a device's streams, by name: the declared questions, and those of the
/// alarms, as `alarm NAME`. Alarms want windows of an hour.
pub(crate) fn with_alarms(plant: &Plant) -> Result<BTreeMap<String, Question>, OwnerError> {
    let mut declared = questions::questions(plant)?;
    for name in plant.settings().alarms.keys() {
        declared.insert(format!("alarm {name}"), alarm(plant, name)?.streams());
    }
    Ok(declared)
}
