//! Mutes and acknowledgements of alarms.

use crate::alarm::{self, Event, Order};
use crate::amount::Every;
use crate::declared::{self, Plant};
use crate::error::OwnerError;
use crate::question::Silence;

impl Plant {
    /// Mutes an alarm until a time in milliseconds since 1970: its events go to the log alone. Returns the line of the log.
    /// `sotto watch` follows it from its next round on; when the mute ends and the alarm lasts, it is told then.
    ///
    /// # Errors
    /// [`OwnerError::NotDeclared`] if there is no alarm or no device with this name; [`OwnerError::Argument`] if the time is
    /// over; another [`OwnerError`] if a file cannot be written.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let here = sotto_owner::NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
    /// # let mut plant = sotto_owner::Plant::init(&folder.path().join("dairy"), &here)?;
    /// # let (unit, range, every) = ("°C", "-20..120".parse()?, "5m".parse()?);
    /// # let boiler = sotto_owner::settings::ChannelSettings::new(unit, range, 0.1, every);
    /// # plant.edit(|settings| sotto_owner::edit::add_channel(settings, "boiler", &boiler))?;
    /// # let hot = sotto_owner::alarm::AlarmSettings::new("boiler > 80");
    /// # plant.edit(|settings| sotto_owner::edit::add_alarm(settings, "hot", &hot))?;
    /// use sotto_owner::alarm::Order;
    ///
    /// // `plant` has an alarm hot.
    /// let order = Order { reason: Some("maintenance".into()), by: "an example".into(), device: None };
    /// let line = plant.mute_alarm("hot", 4_102_444_800_000, &order)?;
    /// assert!(line.text().starts_with("muted: hot, "));
    /// assert_eq!(plant.alarm_status("hot")?.events, [line]);
    /// plant.unmute_alarm("hot", &order)?;
    /// assert!(plant.unmute_alarm("hot", &order).is_err(), "it is not muted");
    /// assert!(plant.acknowledge_alarm("hot", &order).is_err(), "it does not last");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn mute_alarm(&self, name: &str, until_ms: i64, order: &Order) -> Result<Event, OwnerError> {
        alarm::mute(self, name, until_ms, order)
    }

    /// Ends the mutes that commands gave. Returns the line of the log.
    ///
    /// # Errors
    /// Those of [`Plant::mute_alarm`]; [`OwnerError::NotNow`] if no command has muted it.
    pub fn unmute_alarm(&self, name: &str, order: &Order) -> Result<Event, OwnerError> {
        alarm::unmute(self, name, order)
    }

    /// Acknowledges an alarm about each device about which it lasts: it is not told again until it is over. Returns the lines of the
    /// log.
    ///
    /// # Errors
    /// Those of [`Plant::mute_alarm`]; [`OwnerError::NotNow`] if it does not last.
    pub fn acknowledge_alarm(&self, name: &str, order: &Order) -> Result<Vec<Event>, OwnerError> {
        alarm::acknowledge(self, name, order)
    }

    /// Returns the time until which an alarm about a device is muted by a command or by the times of `sotto.toml`, in milliseconds
    /// since 1970; None if it is not muted at `now_ms`. At most [`GIVE_UP_AFTER_MS`](alarm::GIVE_UP_AFTER_MS) from then.
    ///
    /// # Errors
    /// [`OwnerError::NotDeclared`] if there is no alarm with this name; another [`OwnerError`] if a file cannot be read.
    pub fn alarm_muted_until(
        &self,
        name: &str,
        device: &str,
        now_ms: i64,
    ) -> Result<Option<i64>, OwnerError> {
        alarm::muted_until(self, name, device, now_ms)
    }

    /// Returns the declared alarms that no window can raise, each with the reason and a way out: their windows or channels changed
    /// after they were declared.
    ///
    /// # Errors
    /// [`OwnerError::Question`] if a condition cannot be read.
    pub fn never_raised(&self) -> Result<Vec<(String, String)>, OwnerError> {
        declared::never_raised_alarms(self)
    }

    /// Returns the enrolled devices whose present bundles send windows too seldom for a silence, each with the time until the next
    /// one arrives. Of devices that send pieces, `fresh` is the time between them.
    ///
    /// # Errors
    /// [`OwnerError`] if the record of a device cannot be read.
    pub fn too_slow_for(
        &self,
        silence: &Silence,
        fresh: Option<Every>,
    ) -> Result<Vec<(String, String)>, OwnerError> {
        declared::too_slow(self, silence, fresh)
    }
}
