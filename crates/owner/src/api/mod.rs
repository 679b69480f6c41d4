//! The verbs of a plant, each in the room that does the work.

mod alarms;
mod cloud;
mod seen;
mod summed;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sotto_cloud_client::Cloud;

use crate::alarm::{self, AlarmStatus};
use crate::amount::Every;
use crate::answers::{
    self, Answer, DeviceStatus, Explanation, Forgotten, Giving, KeptAnswer, Published, Retained, Verified,
};
use crate::backup::{self, BackedUp, BackupNote, BackupOptions};
use crate::cache::{self, CachedSums};
use crate::declared::settings::DeviceSettings;
use crate::declared::{self, AlarmSettings, Declared, Plant};
use crate::devices::{self, DeviceRecord, Enrolled, Fault, Planned, Restored, Taken};
use crate::error::OwnerError;
use crate::question::Question;
use crate::reports;
use crate::streams::{Chosen, Price, Wishes};
use crate::trust::OnVerified;
use crate::windows::Retention;
use crate::work::OnProgress;

impl Plant {
    /// Stores an answer and returns its name. Returns None, and stores nothing, if it exceeds 16 MiB.
    ///
    /// # Errors
    /// [`OwnerError`] if the folder cannot be written.
    pub fn keep(&self, answer: &Answer) -> Result<Option<String>, OwnerError> {
        answers::keep(self, answer)
    }

    /// Deletes answers older than `keep_answers` days (`sotto.toml`). Returns their number.
    ///
    /// # Errors
    /// [`OwnerError`] if the folder cannot be read or written.
    pub fn expire_answers(&self) -> Result<usize, OwnerError> {
        answers::expire_answers(self)
    }

    /// Returns the names of all stored answers, oldest first.
    ///
    /// # Errors
    /// [`OwnerError`] if the folder cannot be read.
    pub fn answers(&self) -> Result<Vec<String>, OwnerError> {
        answers::answers(self)
    }

    /// Returns the name of the answer stored last.
    ///
    /// # Errors
    /// [`OwnerError::Unanswerable`] if none was stored yet; another [`OwnerError`] if the folder cannot be read.
    pub fn latest_answer(&self) -> Result<String, OwnerError> {
        answers::latest_answer(self)
    }

    /// Returns the names of the answers stored in the last `within` milliseconds, oldest first.
    ///
    /// # Errors
    /// [`OwnerError`] if the folder cannot be read.
    pub fn latest_answers(&self, within: i64) -> Result<Vec<String>, OwnerError> {
        answers::latest_answers(self, within)
    }

    /// Returns the latest answer to a declared question. Searches the 50 most recent answers; None if none matches.
    #[must_use]
    pub fn last_cost(&self, question: &str) -> Option<KeptAnswer> {
        answers::last_cost(self, question)
    }

    /// Reads a stored answer.
    ///
    /// # Errors
    /// [`OwnerError::NotDeclared`] if there is no answer with this name; another [`OwnerError`] if its file is damaged.
    pub fn answer(&self, name: &str) -> Result<KeptAnswer, OwnerError> {
        answers::answer(self, name)
    }

    /// Answers a question from the windows stored in the cloud.
    ///
    /// # Errors
    /// [`OwnerError`] if the cloud is unreachable or refuses, if the stored windows cannot answer the question, or if
    /// an answer does not match the request.
    pub fn ask(&self, question: &Question, progress: OnProgress<'_>) -> Result<Answer, OwnerError> {
        answers::ask(self, question, None, progress)
    }

    /// Explains how a question would be answered: the windows, the sums and their bytes, and who learns what. Fetches the
    /// list of windows, and nothing else.
    ///
    /// # Errors
    /// Those of [`Plant::ask`].
    pub fn explain(&self, question: &Question) -> Result<Explanation, OwnerError> {
        answers::explain(self, question)
    }

    /// Repeats all work of the cloud behind an answer that was asked for just now, on the windows as their devices signed
    /// them: then its values are recomputed. Sums carry tags, so there is nothing to repeat.
    ///
    /// # Errors
    /// [`OwnerError::NotHeld`] if a statement of the cloud is false, [`OwnerError::NotRepeated`] if a part cannot be repeated;
    /// another [`OwnerError`] if the cloud is unreachable.
    pub fn verify_asked(&self, answer: Answer, progress: OnVerified<'_>) -> Result<Answer, OwnerError> {
        answers::verify_asked(self, answer, progress)
    }

    /// Answers a question as of an earlier answer: from the windows that were in the logs of its devices then. Corrections
    /// and late readings that came since count for nothing.
    ///
    /// # Errors
    /// Those of [`Plant::ask`]; [`OwnerError::NotDeclared`] if there is no answer with this name, and
    /// [`OwnerError::Unanswerable`] if a version kept it that did not note the logs, or a log that was accepted anew has other
    /// windows.
    pub fn ask_as_of(
        &self,
        question: &Question,
        earlier: &str,
        progress: OnProgress<'_>,
    ) -> Result<Answer, OwnerError> {
        let KeptAnswer { answer, .. } = self.answer(earlier)?;
        if answer.logs.is_empty() {
            return Err(OwnerError::Unanswerable(format!(
                "answer {earlier} does not say which windows there were: it was kept by an older version"
            )));
        }
        let then = answers::logs_then(self, earlier, &answer.logs)?;
        answers::ask(self, question, Some(&then), progress)
    }

    /// Removes an alarm from `sotto.toml`, its state, and its events that wait for a sink.
    ///
    /// # Errors
    /// [`OwnerError::NotDeclared`] if there is no alarm with this name; another [`OwnerError`] if a file cannot be
    /// written.
    pub fn remove_alarm(&mut self, name: &str) -> Result<(), OwnerError> {
        alarm::remove_alarm(self, name)
    }

    /// Returns the state of an alarm about each of its devices, and its last 10 events.
    ///
    /// # Errors
    /// [`OwnerError`] if there is no alarm with this name, or a file is damaged.
    pub fn alarm_status(&self, name: &str) -> Result<AlarmStatus, OwnerError> {
        alarm::alarm_status(self, name)
    }

    /// Reads a condition for this plant: its channels, devices and units are checked. Refuses one that can never hold, and a silence
    /// that windows are too long for: of devices that send pieces, `fresh` is the time between them.
    ///
    /// # Errors
    /// [`OwnerError::Question`], which points at the place in the text.
    pub fn condition(&self, settings: &AlarmSettings, fresh: Option<Every>) -> Result<Declared, OwnerError> {
        declared::condition(self, settings, fresh)
    }

    /// Returns a declared alarm.
    ///
    /// # Errors
    /// [`OwnerError::NotDeclared`] if there is none with this name; [`OwnerError::Question`] if it cannot be read.
    pub fn alarm(&self, name: &str) -> Result<Declared, OwnerError> {
        declared::alarm(self, name)
    }

    /// Returns the questions that decide about a device's streams, by name: the declared questions, and those of the
    /// alarms, as `alarm NAME`. Alarms want windows of an hour.
    ///
    /// # Errors
    /// Those of [`Plant::question`].
    pub fn declared(&self) -> Result<BTreeMap<String, Question>, OwnerError> {
        declared::with_alarms(self)
    }

    /// Returns the mark of a verified answer; None if it was not verified.
    ///
    /// # Errors
    /// [`OwnerError::NotDeclared`] if there is no answer with this name; another [`OwnerError`] if the mark is damaged.
    pub fn verified(&self, name: &str) -> Result<Option<Verified>, OwnerError> {
        answers::verified(self, name)
    }

    /// Returns an answer in the form in which it may be given to others.
    ///
    /// # Errors
    /// [`OwnerError::NotVerified`] if it was not verified completely; [`OwnerError::CannotPublish`] if its reals cannot
    /// be published in this form.
    pub fn publish(&self, name: &str, giving: Giving) -> Result<Published, OwnerError> {
        answers::publish(self, name, giving)
    }

    /// Removes a channel from `sotto.toml`. Stored windows keep it, but no question about it is answered.
    ///
    /// # Errors
    /// [`OwnerError::InUse`] with the commands to run first, if a device measures it or a question uses it.
    pub fn remove_channel(&mut self, name: &str) -> Result<(), OwnerError> {
        declared::remove_channel(self, name)
    }

    /// Gives a channel another name, in declared questions and alarms too. Streams and bundles go on using the first one:
    /// `wire` in `sotto.toml`. Models in files keep the name that they have.
    ///
    /// # Errors
    /// [`OwnerError::NotDeclared`] if there is no channel `name`; [`OwnerError`] if `new` is taken, or the readings of
    /// another channel are stored under it.
    pub fn rename_channel(&mut self, name: &str, new: &str) -> Result<(), OwnerError> {
        declared::rename_channel(self, name, new)
    }

    /// Gives a device another name, in declared questions and alarms too. Bundles, the cloud and the folder's files go on
    /// using the first one: `wire` in `sotto.toml`.
    ///
    /// # Errors
    /// [`OwnerError::NotDeclared`] if there is no device `name`; [`OwnerError`] if `new` is taken, or the readings of
    /// another device are stored under it.
    pub fn rename_device(&mut self, name: &str, new: &str) -> Result<(), OwnerError> {
        declared::rename_device(self, name, new)
    }

    /// Parses a text for this plant: the name of a declared question, or a question in the language. Reads models from
    /// files in the working directory or in the plant's folder.
    ///
    /// # Errors
    /// [`OwnerError::Question`], which points at the place in the text.
    pub fn question(&self, text: &str) -> Result<Question, OwnerError> {
        declared::question(self, text)
    }

    /// Parses a text like [`Plant::question`] for a question that is being declared. Also refuses one that no reading within
    /// the declared ranges can answer, such as `count(x > 200)` of a channel up to 100.
    ///
    /// # Errors
    /// Those of [`Plant::question`].
    pub fn new_question(&self, text: &str) -> Result<Question, OwnerError> {
        declared::new_question(self, text)
    }

    /// Parses a text like [`Plant::question`] for its needs, whatever the values of its parameters: without values it is about
    /// all devices and all times.
    ///
    /// # Errors
    /// Those of [`Plant::question`].
    pub fn planned_question(&self, text: &str) -> Result<Question, OwnerError> {
        declared::planned_question(self, text)
    }

    /// Checks that a question can be answered within a declared precision.
    ///
    /// # Errors
    /// [`OwnerError::Question`] if a quantile or an extreme would take more bins than a channel has.
    pub fn check_precision(&self, question: &Question, precision: f64) -> Result<(), OwnerError> {
        let reason = crate::streams::too_precise(self.settings(), question, precision);
        reason.map_or(Ok(()), |reason| Err(OwnerError::Question(reason)))
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
        declared::question_between(self, text, &BTreeMap::new(), since, until)
    }

    /// Parses a text like [`Plant::question_between`], with values of its parameters: that of `$room` is under
    /// `room`.
    ///
    /// # Errors
    /// Those of [`Plant::question_between`]; [`OwnerError::Question`] if a parameter has no value or a wrong one, or a value
    /// no parameter.
    pub fn question_filled(
        &self,
        text: &str,
        values: &BTreeMap<String, String>,
        since: Option<&str>,
        until: Option<&str>,
    ) -> Result<Question, OwnerError> {
        declared::question_between(self, text, values, since, until)
    }

    /// Parses the declared questions for this plant.
    ///
    /// # Errors
    /// Those of [`Plant::question`].
    pub fn questions(&self) -> Result<BTreeMap<String, Question>, OwnerError> {
        declared::questions(self)
    }

    /// Returns the enrolled devices that a question concerns, each with the reason why its latest bundle does not
    /// suffice, if so. `name` is the name of a declared question, whose precision and place of comparisons count, or `alarm NAME`;
    /// else empty.
    ///
    /// # Errors
    /// [`OwnerError`] if a record is damaged.
    pub fn carried_by(
        &self,
        name: &str,
        question: &Question,
    ) -> Result<Vec<(String, Option<String>)>, OwnerError> {
        devices::carried_by(self, name, question)
    }

    /// Deletes a device's windows that end before `before` (milliseconds since 1970; None: now) from the cloud,
    /// together with results computed from them, and the answers in the plant's folder about that time, with the
    /// device's sums in the cache. The cloud refuses these windows if they are sent again.
    ///
    /// # Errors
    /// [`OwnerError`] if there is no such device, the cloud is unreachable or refuses, or an answer cannot be deleted.
    pub fn forget(&self, device: &str, before: Option<i64>) -> Result<Forgotten, OwnerError> {
        answers::forget(self, device, before)
    }

    /// Orders the cloud to keep sums of old windows in place of their bodies. With `dry_run` orders nothing, and returns what would
    /// be ordered.
    ///
    /// # Errors
    /// [`OwnerError`] if there is no such channel, or the cloud is unreachable or refuses.
    pub fn retain(&self, retention: &Retention, dry_run: bool) -> Result<Vec<Retained>, OwnerError> {
        answers::retain(self, retention, dry_run)
    }

    /// Returns the size of the cache: sums of earlier answers, which a question does not ask for again.
    ///
    /// # Errors
    /// [`OwnerError`] if a file cannot be read.
    pub fn cached_sums(&self) -> Result<CachedSums, OwnerError> {
        cache::cached_sums(self)
    }

    /// Deletes the cache, and returns its size before. The next question asks for all of its sums.
    ///
    /// # Errors
    /// [`OwnerError`] if a file cannot be deleted.
    pub fn clear_cache(&self) -> Result<CachedSums, OwnerError> {
        cache::clear(self)
    }

    /// Revokes a device in the cloud and removes it from `sotto.toml`. Keeps its record and secret, which can decrypt
    /// its stored windows.
    ///
    /// With `destroy_secret` only a copy of the secret can decrypt them, such as the one in the device's bundle.
    ///
    /// # Errors
    /// [`OwnerError`] if it is not declared, the cloud is unreachable or refuses, or a file cannot be removed.
    pub fn remove_device(&mut self, name: &str, destroy_secret: bool) -> Result<(), OwnerError> {
        answers::remove_device(self, name, destroy_secret)
    }

    /// Registers every enrolled device that the cloud does not know, and returns the status of each declared device.
    /// Trouble of one device, such as a damaged record, is in its status.
    ///
    /// # Errors
    /// [`OwnerError`] if the cloud is unreachable or refuses the owner, or `sotto.toml` names no time zone.
    pub fn status(&self) -> Result<Vec<DeviceStatus>, OwnerError> {
        answers::status(self)
    }

    /// Returns a note for each device with windows in the cloud that this folder does not know, or knows from an older copy.
    ///
    /// # Errors
    /// [`OwnerError`] if the cloud is unreachable or refuses the owner, or a record is damaged.
    pub fn unknown_devices(&self) -> Result<Vec<String>, OwnerError> {
        answers::unknown_devices(self)
    }

    /// Returns the public part of a device; None if it is not enrolled.
    ///
    /// # Errors
    /// [`OwnerError`] if the record is damaged.
    pub fn device(&self, name: &str) -> Result<Option<DeviceRecord>, OwnerError> {
        devices::record(self, name)
    }

    /// Returns all enrolled devices, by name.
    ///
    /// # Errors
    /// [`OwnerError`] if a record is damaged.
    pub fn devices(&self) -> Result<BTreeMap<String, DeviceRecord>, OwnerError> {
        devices::enrolled(self)
    }

    /// Returns the streams that a device with these settings would send for the declared questions.
    ///
    /// # Errors
    /// [`OwnerError`] if a question cannot be read, or no parameters are suitable.
    pub fn streams_for(&self, device: &str, settings: &DeviceSettings) -> Result<Vec<Chosen>, OwnerError> {
        devices::streams_for(self, device, settings)
    }

    /// Returns the streams that a device with these settings would send for one question.
    ///
    /// # Errors
    /// [`OwnerError::NoParameters`] if no parameters are suitable.
    pub fn streams_for_question(
        &self,
        device: &str,
        settings: &DeviceSettings,
        question: &Question,
    ) -> Result<Vec<Chosen>, OwnerError> {
        devices::streams_for_question(self, device, settings, question)
    }

    /// Returns the streams of each declared device for one question (None: for all declared ones), compared with their
    /// alternatives. If no device is declared, those of a device with all channels.
    ///
    /// # Errors
    /// [`OwnerError::Unanswerable`] if no channel is declared; another [`OwnerError`] if a question cannot be read, or
    /// no parameters are suitable.
    pub fn planned_streams(
        &self,
        question: Option<&str>,
    ) -> Result<BTreeMap<String, Vec<Chosen>>, OwnerError> {
        devices::planned_streams(self, question)
    }

    /// Returns the streams of [`Plant::planned_streams`] with some wishes, and the questions that are impossible then. Writes
    /// nothing.
    ///
    /// ```
    /// use sotto_owner::{NewPlant, Planned, Plant, Unsent, Wishes, edit, settings::ChannelSettings};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let new = NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
    /// # let mut plant = Plant::init(&folder.path().join("dairy"), &new)?; // a plant without channels
    /// let channel = ChannelSettings::new("°C", "-20..120".parse()?, 0.1, "5m".parse()?);
    /// plant.edit(|settings| edit::add_channel(settings, "temperature", &channel))?;
    /// plant.edit(|settings| edit::add_question(settings, "hourly", &"mean(temperature) by hour".into()))?;
    /// let with = |window_ms| plant.planned_with(None, Wishes { window_ms: Some(window_ms), ..Wishes::default() });
    /// let halves: Planned = with(1_800_000)?;
    /// assert_eq!(halves.streams["a device with all channels"][0].windows_a_day(), 48);
    /// // Means by the hour have windows of an hour at most.
    /// assert_eq!(with(6 * 3_600_000)?.streams["a device with all channels"][0].windows_a_day(), 24);
    /// // A window of a minute has no reading.
    /// assert!(with(60_000)?.impossible["hourly"].contains("would hold none"));
    /// let unsent: Vec<Unsent> = with(60_000)?.unsent;
    /// assert_eq!(unsent[0].channels, ["temperature"]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`OwnerError::Unanswerable`] if no channel is declared; [`OwnerError::NoParameters`] if a device would send more streams than a bundle has.
    pub fn planned_with(&self, question: Option<&str>, wishes: Wishes) -> Result<Planned, OwnerError> {
        devices::planned_with(self, question, wishes)
    }

    /// Returns the streams of each declared device for all declared questions and alarms, or those of a device with all
    /// channels if no device is declared. None without a channel.
    ///
    /// # Errors
    /// [`OwnerError`] if a question cannot be read, or no parameters are suitable.
    pub fn streams_of_devices(&self) -> Result<Vec<(String, Vec<Chosen>)>, OwnerError> {
        devices::streams_of_devices(self)
    }

    /// Returns the price of each declared device by the present questions and alarms; of a device with all channels if no device is
    /// declared.
    ///
    /// # Errors
    /// [`OwnerError::NoParameters`] if no streams of a device can carry the questions.
    pub fn prices(&self) -> Result<Vec<(String, Price)>, OwnerError> {
        let devices = self.streams_of_devices()?;
        Ok(devices.into_iter().map(|(device, streams)| (device, Price::of(&streams))).collect())
    }

    /// Checks that a device can be enrolled and its bundle written, before anything is declared or made.
    ///
    /// # Errors
    /// [`OwnerError::BundleExists`] or [`OwnerError::Exists`] if the bundle or the record exists, [`OwnerError::HeldSecret`] if a secret does.
    pub fn can_enrol(&self, name: &str, bundle: &Path) -> Result<(), OwnerError> {
        devices::can_enrol(self, name, bundle)
    }

    /// Enrols a device declared in `sotto.toml`: generates its secret and signing key, and writes its bundle, the one
    /// file that it needs. Registers it first if the cloud is in reach. A failed enrolment leaves neither.
    ///
    /// # Errors
    /// As [`Self::can_enrol`]; [`OwnerError::OtherDevice`] if the cloud knows another device of this name; another [`OwnerError`] if no parameters are suitable, or a file cannot be written.
    pub fn enrol(&self, name: &str, bundle: &Path) -> Result<Enrolled, OwnerError> {
        devices::enrol(self, name, bundle)
    }

    /// Returns the channels of an enrolled device's latest bundle, by the names that they have now; none if it is not
    /// enrolled.
    ///
    /// # Errors
    /// [`OwnerError`] if the record is damaged.
    pub fn channels_of(&self, name: &str) -> Result<Vec<String>, OwnerError> {
        devices::channels_of(self, name)
    }

    /// Looks at the folder: the owner's token, the modes of secrets, the files of every device, and whether its backup is
    /// newer.
    ///
    /// # Errors
    /// [`OwnerError::Io`] if a folder cannot be read. Faults are no errors.
    pub fn check(&self) -> Result<Vec<Fault>, OwnerError> {
        let mut faults = devices::check(self)?;
        faults.extend(backup::check(self)?);
        Ok(faults)
    }

    /// Brings back the record of a device whose secret is in the folder, from its registration or the cloud, whichever
    /// is newer.
    ///
    /// # Errors
    /// [`OwnerError::HeldSecret`] if neither has a copy that the secret opens; [`OwnerError::NotDeclared`] if the folder
    /// has no secret of this device; another [`OwnerError`] if a file cannot be read or written.
    pub fn restore(&self, name: &str) -> Result<Restored, OwnerError> {
        devices::restore(self, name)
    }

    /// Takes a device from its bundle: writes the secrets that are missing in the folder, and the newest of the records
    /// that bundle, folder and cloud have. Puts the device, and channels of it, back into `sotto.toml`.
    ///
    /// # Errors
    /// [`OwnerError::OtherSecret`] if the folder has another secret of this device; another [`OwnerError`] if the bundle
    /// cannot be read, or a file cannot be written.
    pub fn adopt(&mut self, bundle: &Path) -> Result<Restored, OwnerError> {
        devices::adopt(self, bundle)
    }

    /// Puts the secrets of a device without a record aside, into `secrets/old`. Returns their new paths.
    ///
    /// # Errors
    /// [`OwnerError::Io`] if a file cannot be moved.
    pub fn put_secrets_aside(&self, name: &str) -> Result<Vec<PathBuf>, OwnerError> {
        devices::put_secrets_aside(self, name)
    }

    /// Takes over the record that the cloud has of a device, after another copy of this folder has written it. Keeps the
    /// bundles that only this folder knows.
    ///
    /// # Errors
    /// [`OwnerError::NothingToTake`] if the cloud has no record; [`OwnerError::OtherDevice`] if it does not open under the
    /// secret in the folder, [`OwnerError::MissingSecret`] if there is none; another [`OwnerError`] if the cloud is
    /// unreachable, or a file cannot be written.
    pub fn take(&self, name: &str) -> Result<Taken, OwnerError> {
        devices::take(self, name)
    }

    /// Returns the streams of the bundle that [`Plant::renew`] would make. Nothing is made.
    ///
    /// # Errors
    /// [`OwnerError`] if the device is not enrolled, no parameters are suitable, or the file exists.
    pub fn renewable(&self, name: &str, bundle: &Path) -> Result<Vec<Chosen>, OwnerError> {
        devices::renewable(self, name, bundle)
    }

    /// Makes a new bundle for an enrolled device, for the questions declared now, and registers it before it is written
    /// if the cloud is in reach.
    ///
    /// # Errors
    /// [`OwnerError::OtherCopy`] if another copy of the folder has written the device's registration; another
    /// [`OwnerError`] if it is not enrolled, no parameters are suitable, or the file exists. Nothing is changed then.
    pub fn renew(&self, name: &str, bundle: &Path) -> Result<Enrolled, OwnerError> {
        devices::renew(self, name, bundle)
    }

    /// Registers a device with the cloud: its parameters, its verifying key, the ids of its keys, its streams.
    ///
    /// # Errors
    /// [`OwnerError::OtherCopy`] or [`OwnerError::OtherDevice`] if another copy of the folder has written the
    /// registration; [`OwnerError::Cloud`] if the cloud is unreachable or refuses; another [`OwnerError`] if the enrolment cannot be
    /// read.
    pub fn register(&self, cloud: &Cloud, name: &str) -> Result<(), OwnerError> {
        devices::register(self, cloud, name)
    }

    /// Returns a report as JSON: `declared`, `plan` (its argument is a question, by default all declared ones) or
    /// `status`.
    ///
    /// # Errors
    /// [`OwnerError::NotDeclared`] if there is no such report, and those of its work.
    pub fn report(&self, name: &str, argument: Option<&str>) -> Result<String, OwnerError> {
        reports::report(self, name, argument)
    }

    /// Seals the secrets under a new random key, and that key under a passphrase of at least 8 characters. The owner's token
    /// and the signing key of a cloud on this machine stay in the clear. Interrupted at any moment, all secrets still open,
    /// and the next call with the same passphrase finishes.
    ///
    /// # Errors
    /// [`SecretsError::HasPassphrase`](crate::SecretsError::HasPassphrase) if the plant has one; another [`OwnerError`] if a
    /// file cannot be read or written.
    pub fn set_passphrase(&self, passphrase: &str) -> Result<(), OwnerError> {
        self.secrets().set_passphrase(passphrase)
    }

    /// Replaces the passphrase. Backups that were made under the earlier one still need it.
    ///
    /// # Errors
    /// [`SecretsError::NoPassphrase`](crate::SecretsError::NoPassphrase) if the plant has none; another [`OwnerError`] if its
    /// key cannot be opened, or the file cannot be written.
    pub fn change_passphrase(&self, passphrase: &str) -> Result<(), OwnerError> {
        self.secrets().change_passphrase(passphrase)
    }

    /// Writes all secrets in the clear. The plant's key goes to `secrets/old`.
    ///
    /// # Errors
    /// [`SecretsError::NoPassphrase`](crate::SecretsError::NoPassphrase) if the plant has none; another [`OwnerError`] if its
    /// key cannot be opened, or a file cannot be written.
    pub fn remove_passphrase(&self) -> Result<(), OwnerError> {
        self.secrets().remove_passphrase()
    }

    /// Seals a secret that its owner has put into the folder `secrets` in the clear, as from an older copy.
    ///
    /// # Errors
    /// [`OwnerError`] if the plant has no passphrase, its key cannot be opened, or the file cannot be read or written.
    pub fn seal_secret(&self, file: &str) -> Result<(), OwnerError> {
        self.secrets().seal_one(&self.secret_path(file))
    }

    /// Returns true if the plant has a passphrase.
    #[must_use]
    pub fn has_passphrase(&self) -> bool {
        self.secrets().are_sealed()
    }

    /// Returns true if setting or removing the passphrase was interrupted: the same command finishes it.
    #[must_use]
    pub fn is_changing_passphrase(&self) -> bool {
        self.secrets().are_changing()
    }

    /// Opens the plant's key, if it has a passphrase. Later calls use it, and ask for nothing.
    ///
    /// # Errors
    /// [`SecretsError`](crate::SecretsError) if no passphrase is given, or it does not open the key.
    pub fn open_secrets(&self) -> Result<(), OwnerError> {
        self.secrets().key().map(drop)
    }

    /// Keeps the plant's key in the kernel's keyring, for all processes of this user, for at most a time.
    ///
    /// # Errors
    /// [`SecretsError`](crate::SecretsError) if the plant has no passphrase, its key cannot be opened, or the system has no
    /// keyring.
    pub fn unlock_for(&self, time: Duration) -> Result<(), OwnerError> {
        self.secrets().keep_for(time)
    }

    /// Removes the plant's key from the kernel's keyring. Returns false if it was not there.
    ///
    /// # Errors
    /// [`SecretsError`](crate::SecretsError) if the plant has no passphrase, or the keyring cannot be used.
    pub fn lock(&self) -> Result<bool, OwnerError> {
        self.secrets().lock()
    }

    /// Writes a backup of the plant: appends what changed to the file, or writes it whole. Then every file in it is compared
    /// with the folder. `progress` gets bytes.
    ///
    /// # Errors
    /// [`BackupError`](crate::BackupError) if the file is no backup, is damaged or in use; another [`OwnerError`] if no
    /// passphrase opens it, or a file cannot be read or written.
    pub fn backup(
        &self,
        to: &Path,
        options: BackupOptions<'_>,
        progress: OnProgress<'_>,
    ) -> Result<BackedUp, OwnerError> {
        backup::back_up(self, to, options, progress)
    }

    /// Returns true if a backup to this file needs a new passphrase, as the plant has none.
    #[must_use]
    pub fn needs_backup_passphrase(&self, to: &Path, whole: bool) -> bool {
        backup::needs_passphrase(self, to, whole)
    }

    /// Returns the last backup, or the one that the folder was restored from; None if there was none.
    ///
    /// # Errors
    /// [`OwnerError`] if the note is damaged.
    pub fn last_backup(&self) -> Result<Option<BackupNote>, OwnerError> {
        backup::note(self)
    }
}
