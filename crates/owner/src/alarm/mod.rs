//! Standing alarms: conditions that the owner's process evaluates as windows arrive.
//!
//! An alarm is a [question](crate::question::Alarm) by window and per device, and is therefore declared as one:
//! devices count their readings on both sides of its limits. [`Watch::round`] fetches sums of the windows that have
//! arrived since the round before, whatever the answers were, and turns them into changes of [`Machine`]s. Changes
//! become [`Event`]s, which wait in the [`Outbox`] until each of the alarm's sinks has taken them.
//!
//! ```no_run
//! use sotto_owner::alarm::{Outbox, Watch};
//! use sotto_owner::Plant;
//! use std::sync::Mutex;
//!
//! let plant = Plant::open("dairy".as_ref())?;
//! let outbox = Mutex::new(Outbox::open(&plant)?);
//! let mut watch = Watch::open(&plant, 300_000)?; // a round every five minutes
//! let round = watch.round(&plant, &outbox);
//! for event in &round.events {
//!     println!("{}", event.text());
//! }
//! # Ok::<(), sotto_owner::OwnerError>(())
//! ```

mod address;
mod event;
mod files;
mod machine;
mod outbox;
mod round;
mod settings;
mod watch;

use std::collections::BTreeMap;

use crate::error::OwnerError;
use crate::needs::Kind;
use crate::plant::Plant;
use crate::question::{Alarm, By, Call, Question, unit_of};

pub use address::{MqttAddress, NotAnAddress};
pub use event::{Event, EventKind};
pub use files::{AlarmStatus, DeviceAlarm};
pub use machine::{Change, Machine, Rule, Seen, Verdict};
pub use outbox::{Delivery, GIVE_UP_AFTER_MS, Outbox};
pub use settings::{AlarmSettings, SinkKind};
pub use watch::{Round, Watch};

/// A declared alarm, read for a plant.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let here = sotto_owner::NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
/// # let mut plant = sotto_owner::Plant::init(&folder.path().join("dairy"), &here)?;
/// # let (unit, range, every) = ("°C".into(), "-20..120".parse()?, "5m".parse()?);
/// # let boiler = sotto_owner::edit::NewChannel { unit, range, resolution: 0.1, every, comparable: false };
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
    /// The settings.
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

impl Plant {
    /// Reads a condition for this plant: its channels, devices and units are checked.
    ///
    /// # Errors
    /// [`OwnerError::Question`], which points at the place in the text.
    pub fn condition(&self, settings: &AlarmSettings) -> Result<Declared, OwnerError> {
        let wrong = |error: crate::question::QuestionError| OwnerError::Question(error.to_string());
        let (alarm, places) = Alarm::parse_with_places(&settings.when).map_err(wrong)?;
        let mut question = alarm.question(settings.clear);
        self.check_question(&mut question, &places)?;
        let kinds = |call: &Call| Kind::of(&call.needs());
        let first = question.calls().next().map(kinds);
        if let Some(at) = question.calls().position(|call| Some(kinds(call)) != first) {
            let reason = "windows of polynomials and models are others than those of statistics: make two alarms of it";
            return Err(wrong(places.error_at_call(at, reason)));
        }
        let unit = question
            .select
            .first()
            .map(|selected| unit_of(&selected.expression, self.settings()).unwrap_or_default());
        Ok(Declared { alarm, settings: settings.clone(), question, unit: unit.unwrap_or_default() })
    }

    /// Returns a declared alarm.
    ///
    /// # Errors
    /// [`OwnerError::NotDeclared`] if there is none with this name; [`OwnerError::Question`] if it cannot be read.
    pub fn alarm(&self, name: &str) -> Result<Declared, OwnerError> {
        let settings = self.settings().alarms.get(name);
        let none = || OwnerError::NotDeclared { kind: "alarm", name: name.to_owned() };
        self.condition(settings.ok_or_else(none)?)
    }

    /// Returns the questions that decide about a device's streams, by name: the declared questions, and those of the
    /// alarms, as `alarm NAME`. Alarms want windows of an hour.
    ///
    /// # Errors
    /// Those of [`Plant::question`].
    pub fn declared(&self) -> Result<BTreeMap<String, Question>, OwnerError> {
        let mut declared = self.questions()?;
        for name in self.settings().alarms.keys() {
            declared.insert(format!("alarm {name}"), self.alarm(name)?.streams());
        }
        Ok(declared)
    }
}

impl Declared {
    /// Returns the question that decides about a device's streams.
    #[must_use]
    pub fn streams(&self) -> Question {
        Question { by: Some(By::Hour), ..self.question.clone() }
    }
}
