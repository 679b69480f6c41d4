//! `[alarms.NAME]` in `sotto.toml`.

use serde::{Deserialize, Serialize};

use super::address::{MqttAddress, check_webhook};
use super::mail::mailboxes;
use super::schedule::Schedule;
use crate::language::{Duration, When};
use crate::question::{Alarm, AlarmCondition};

/// Largest number of quiet windows after which an alarm ends.
const MOST_CLEAR_AFTER: u32 = 1000;

/// The kind of a sink: it names a setting of an alarm.
///
/// Example: [`Outbox`](crate::alarm::Outbox)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SinkKind {
    /// A command.
    Exec,
    /// An HTTP address.
    Webhook,
    /// A topic of an MQTT broker.
    Mqtt,
    /// E-mail.
    Mail,
}

impl SinkKind {
    /// Returns the name of the setting.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Exec => "exec",
            Self::Webhook => "webhook",
            Self::Mqtt => "mqtt",
            Self::Mail => "mail",
        }
    }
}

/// A declared alarm.
///
/// ```
/// use sotto_owner::alarm::AlarmSettings;
/// use sotto_owner::settings::Settings;
///
/// let settings = Settings::parse(r#"
///     version = 1
///     cloud = { url = "http://127.0.0.1:7410" }
///     channels.temperature = { unit = "°C", range = "-20..120", resolution = 0.1, every = "5m" }
///     [alarms.hot]
///     when = "temperature > 80 for 3 windows"
///     clear = 75
///     webhook = "https://example.org/hot"
/// "#)?;
/// let hot: &AlarmSettings = &settings.alarms["hot"];
/// assert_eq!((hot.clear, hot.clear_after), (Some(75.0), 1));
/// # Ok::<(), sotto_owner::settings::SettingsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlarmSettings {
    /// The condition: `temperature > 80 for 3 windows`.
    pub when: String,
    /// The limit at which the alarm ends, on the quiet side of the condition's. None: the condition's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clear: Option<f64>,
    /// Number of consecutive quiet windows after which the alarm ends.
    #[serde(default = "one")]
    pub clear_after: u32,
    /// Windows that end by this time are not looked at: 2014-01-31 or 2014-01-31T12:00, in the plant's time zone. None: all
    /// windows are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// While the alarm lasts, it is told again this often until somebody acknowledges it: `1d`. None: once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<String>,
    /// Times at which events go to the log alone, in the plant's time zone: `sat, sun; 22:00-06:00`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mute: Option<String>,
    /// A command that gets each event as JSON on its standard input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exec: Option<String>,
    /// An address to which each event is posted as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<String>,
    /// A topic of an MQTT broker: `mqtt://host/topic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mqtt: Option<String>,
    /// Addresses of people who get each event as a message: `ann@farm.example, bo@farm.example`. The server is that of
    /// `[mail]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mail: Option<String>,
    /// A PEM file with the authority of the webhook's and the broker's certificates, relative to the plant's folder.
    /// None: Mozilla's list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
}

fn one() -> u32 {
    1
}

impl AlarmSettings {
    /// Returns an alarm with this condition that only writes events into the log.
    #[must_use]
    pub fn new(when: impl Into<String>) -> Self {
        Self {
            when: when.into(),
            clear: None,
            clear_after: one(),
            since: None,
            repeat: None,
            mute: None,
            exec: None,
            webhook: None,
            mqtt: None,
            mail: None,
            ca: None,
        }
    }

    /// Returns the kinds of sinks that get events.
    #[must_use]
    pub fn sinks(&self) -> Vec<SinkKind> {
        let named = [
            (SinkKind::Exec, &self.exec),
            (SinkKind::Webhook, &self.webhook),
            (SinkKind::Mqtt, &self.mqtt),
            (SinkKind::Mail, &self.mail),
        ];
        named.into_iter().filter(|(_, named)| named.is_some()).map(|(kind, _)| kind).collect()
    }

    /// Returns the addresses of the people who get messages.
    #[must_use]
    pub fn mailboxes(&self) -> Vec<&str> {
        self.mail.as_deref().and_then(|mail| mailboxes(mail).ok()).unwrap_or_default()
    }

    /// Returns the time after which a lasting alarm is told again, in milliseconds; None if it is told once.
    pub(crate) fn repeat_ms(&self) -> Option<i64> {
        let repeat: Duration = self.repeat.as_deref()?.parse().ok()?;
        i64::try_from(repeat.seconds().saturating_mul(1000)).ok()
    }

    /// Returns the times at which events go to the log alone.
    pub(crate) fn schedule(&self) -> Option<Schedule> {
        self.mute.as_deref()?.parse().ok()
    }

    /// Checks everything but names of channels and devices. Returns the condition.
    ///
    /// # Errors
    /// The reason and a remedy.
    pub(crate) fn check(&self) -> Result<AlarmCondition, String> {
        let condition = AlarmCondition::parse(&self.when).map_err(|error| error.to_string())?;
        match &condition {
            AlarmCondition::Limit(alarm) => self.check_end(alarm)?,
            AlarmCondition::Silence(_) if self.clear.is_some() || self.clear_after != 1 => {
                return Err(
                    "a silence ends with the next reading: leave clear and clear_after out".to_owned()
                );
            }
            AlarmCondition::Silence(_) => {}
        }
        if let Some(since) = &self.since {
            since.parse::<When>().map_err(|error| error.to_string())?;
        }
        if let Some(repeat) = &self.repeat {
            repeat.parse::<Duration>().map_err(|error| format!("repeat: {error}"))?;
        }
        if let Some(mute) = &self.mute {
            mute.parse::<Schedule>().map_err(|error| format!("mute: {error}"))?;
        }
        if self.exec.as_ref().is_some_and(|command| command.trim().is_empty()) {
            return Err("exec is empty: name a command, or leave exec out".to_owned());
        }
        if let Some(webhook) = &self.webhook {
            check_webhook(webhook).map_err(|error| error.to_string())?;
        }
        if let Some(mqtt) = &self.mqtt {
            mqtt.parse::<MqttAddress>().map_err(|error| error.to_string())?;
        }
        if let Some(mail) = &self.mail {
            mailboxes(mail).map_err(|error| error.to_string())?;
        }
        Ok(condition)
    }

    /// Checks the rules by which an alarm on a limit ends.
    fn check_end(&self, alarm: &Alarm) -> Result<(), String> {
        if let Some(clear) = self.clear
            && !(clear.is_finite() && alarm.clears_at(clear))
        {
            return Err(format!(
                "clear = {clear} is on the alarm's side of its limit: with {} {} it is {} {}",
                alarm.comparison.symbol(),
                alarm.limit,
                if alarm.clears_at(alarm.limit - 1.0) { "at most" } else { "at least" },
                alarm.limit
            ));
        }
        if !(1..=MOST_CLEAR_AFTER).contains(&self.clear_after) {
            return Err(format!("clear_after is a number of windows, 1 to {MOST_CLEAR_AFTER}"));
        }
        Ok(())
    }
}
