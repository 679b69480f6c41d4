//! Conditions of alarms, parsed and checked for a plant.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};

use super::alarm::AlarmSettings;
use super::plant::Plant;
use super::questions;
use crate::alarm::Rule;
use crate::error::OwnerError;
use crate::functions::Call;
use crate::language::{By, Comparison, QuestionError, TextSpans};
use crate::question::{Alarm, AlarmCondition, Expression, Question, Silence, unit_of};

/// A declared alarm, read for a plant. `Display` writes its condition.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let here = sotto_owner::NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
/// # let mut plant = sotto_owner::Plant::init(&folder.path().join("dairy"), &here)?;
/// # let (unit, range, every) = ("°C", "-20..120".parse()?, "5m".parse()?);
/// # let boiler = sotto_owner::settings::ChannelSettings::new(unit, range, 0.1, every);
/// # plant.edit(|settings| sotto_owner::edit::add_channel(settings, "boiler", &boiler))?;
/// use sotto_owner::alarm::{AlarmSettings, Declared, Watched};
/// use sotto_owner::edit::add_alarm;
///
/// // `plant` has the channel boiler.
/// let hot = AlarmSettings { clear: Some(75.0), ..AlarmSettings::new("boiler > 80 for 3 windows") };
/// plant.edit(|settings| add_alarm(settings, "hot", &hot))?;
/// let Declared { watched: Watched::Limit(hot), .. } = plant.alarm("hot")? else { panic!("a limit") };
/// assert_eq!(hot.alarm.windows, 3);
/// assert_eq!(hot.question.to_string(), "count(boiler > 80), count(boiler > 75) by window per device");
/// let silent = plant.condition(&AlarmSettings::new("boiler silent for 3h"), None)?;
/// assert!(matches!(silent.watched, Watched::Silence(_)));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// The alarm's table in `sotto.toml`.
    pub settings: AlarmSettings,
    /// The facts that raise and end it.
    pub watched: Watched,
}

/// The facts that raise and end an alarm.
///
/// Example: [`Declared`]
#[derive(Clone, Debug, PartialEq)]
pub enum Watched {
    /// A value of windows passes a limit.
    Limit(Box<OnLimit>),
    /// No reading came for some time.
    Silence(Silence),
}

/// An alarm on a limit, with the question whose answer decides.
///
/// Example: [`Declared`]
#[derive(Clone, Debug, PartialEq)]
pub struct OnLimit {
    /// The condition.
    pub alarm: Alarm,
    /// The question whose answer decides.
    pub question: Question,
    /// The unit of the value compared.
    pub unit: String,
    /// The limit at which the alarm ends.
    pub clear: f64,
    /// Number of consecutive quiet windows after which it ends.
    clear_after: u32,
}

impl OnLimit {
    /// Returns when the alarm begins and ends.
    #[must_use]
    pub fn rule(&self) -> Rule {
        let lasts_ms = self.alarm.time.map_or(0, |time| time.seconds().saturating_mul(1000));
        Rule {
            windows: self.alarm.windows,
            lasts_ms: i64::try_from(lasts_ms).unwrap_or(i64::MAX),
            clear_after: self.clear_after,
            takes_empty: self.alarm.is_of_coverage(),
        }
    }
}

impl Declared {
    /// Returns the channels that the condition names.
    #[must_use]
    pub fn channels(&self) -> BTreeSet<String> {
        match &self.watched {
            Watched::Limit(of) => of.question.channels(),
            Watched::Silence(silence) => silence.channel.iter().cloned().collect(),
        }
    }

    /// Returns the devices of `where device in (…)`. None: all devices.
    #[must_use]
    pub fn only(&self) -> Option<&[String]> {
        match &self.watched {
            Watched::Limit(of) => of.alarm.only.as_deref(),
            Watched::Silence(silence) => silence.only.as_deref(),
        }
    }

    /// Returns the question that decides about a device's streams; None for the silence of a device, which any reading ends.
    #[must_use]
    pub fn streams(&self) -> Option<Question> {
        let by_hour = |question: &Question| Question { by: Some(By::Hour), ..question.clone() };
        match &self.watched {
            Watched::Limit(of) => Some(by_hour(&of.question)),
            Watched::Silence(silence) => {
                let counted = Alarm {
                    only: silence.only.clone(),
                    ..Alarm::on(Call::count(silence.channel.as_deref()?).into(), Comparison::AtLeast, 1.0)
                };
                Some(by_hour(&counted.question(None)))
            }
        }
    }

    /// Returns the unit of an event's value: a silence is told in hours.
    #[must_use]
    pub fn unit(&self) -> &str {
        match &self.watched {
            Watched::Limit(of) => &of.unit,
            Watched::Silence(_) => "h",
        }
    }
}

impl Display for Declared {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.watched {
            Watched::Limit(of) => of.alarm.fmt(out),
            Watched::Silence(silence) => silence.fmt(out),
        }
    }
}

fn wrong(error: &QuestionError) -> OwnerError {
    OwnerError::Question(error.to_string())
}

/// Parses a condition, and checks its channels, devices and units.
pub(super) fn parsed(plant: &Plant, settings: &AlarmSettings) -> Result<(Declared, TextSpans), OwnerError> {
    let (condition, places) =
        AlarmCondition::parse_with_places(&settings.when).map_err(|error| wrong(&error))?;
    let watched = match condition {
        AlarmCondition::Limit(alarm) => Watched::Limit(Box::new(on_limit(plant, settings, alarm, &places)?)),
        AlarmCondition::Silence(silence) => {
            if let Some(channel) = &silence.channel
                && !plant.settings().channels.contains_key(channel)
            {
                return Err(wrong(&places.error_at_channel(channel, plant.settings().no_channel(channel))));
            }
            let channels = match &silence.channel {
                Some(channel) => BTreeSet::from([channel.clone()]),
                None => plant.settings().channels.keys().cloned().collect(),
            };
            questions::check_devices(plant, silence.only.as_deref(), &channels, &places)?;
            Watched::Silence(silence)
        }
    };
    Ok((Declared { settings: settings.clone(), watched }, places))
}

fn on_limit(
    plant: &Plant,
    settings: &AlarmSettings,
    alarm: Alarm,
    places: &TextSpans,
) -> Result<OnLimit, OwnerError> {
    let mut question = alarm.question(settings.clear);
    questions::check(plant, &mut question, places)?;
    let of_first = |expression: &Expression| unit_of(expression, plant.settings()).unwrap_or_default();
    let unit = question.select.first().map(|selected| of_first(&selected.expression)).unwrap_or_default();
    let clear = settings.clear.unwrap_or(alarm.limit);
    Ok(OnLimit { alarm, question, unit, clear, clear_after: settings.clear_after })
}

pub(crate) fn alarm(plant: &Plant, name: &str) -> Result<Declared, OwnerError> {
    let settings = plant.settings().alarms.get(name);
    let none = || OwnerError::NotDeclared { kind: "alarm", name: name.to_owned() };
    Ok(parsed(plant, settings.ok_or_else(none)?)?.0)
}

/// Returns the name of an alarm among questions.
pub(crate) fn named_alarm(alarm: &str) -> String {
    format!("{ALARM}{alarm}")
}

/// The start of the names of alarms among questions.
const ALARM: &str = "alarm ";

/// Returns true for the name of an alarm among questions: one window answers it, with all its channels.
pub(crate) fn is_alarm(name: &str) -> bool {
    name.starts_with(ALARM)
}

/// Returns the questions that decide about a device's streams, by name: the declared questions, and those of the
/// alarms, as `alarm NAME`. Alarms want windows of an hour.
pub(crate) fn with_alarms(plant: &Plant) -> Result<BTreeMap<String, Question>, OwnerError> {
    let mut declared = questions::questions(plant)?;
    for name in plant.settings().alarms.keys() {
        declared.extend(alarm(plant, name)?.streams().map(|question| (named_alarm(name), question)));
    }
    Ok(declared)
}
