//! The plant: a folder with `sotto.toml`, secrets, devices and answers.
//!
//! ```text
//! plant/
//!   sotto.toml       channels, questions, devices
//!   cloud.toml       configuration of a cloud on this machine
//!   secrets/         mode 0700: the owner's token, a secret and a signing key for each device, budgets of flooding; with a
//!                    passphrase all but the token and a cloud's signing key are sealed under `plant-key`
//!   devices/         the public part of each device: verifying key, streams of every bundle
//!   enrolments/      registrations, which a cloud on this machine reads by itself
//!   alarms/          mode 0700: the state of each alarm, its events, those that wait for a sink
//!   answers/         earlier answers, unencrypted, each with the transcripts of its work
//!   logs/            the log of each stream, as the cloud reported and signed it
//!   cache/           sums that were opened for earlier answers, each stream's under its device's secret
//!   evaluation-keys/ evaluation keys that were uploaded
//!   ca.pem, tls/     after `sotto tls init`: the plant's authority, the cloud's certificate and key
//!   console/         mode 0700: the way to a `sotto console` that runs
//!   .lock            held while a process reads, changes and writes a file of the folder
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use sotto_cloud_client::{Cloud, Interrupt};
use sotto_keys::SigningIdentity;
use zeroize::Zeroizing;

use super::authority;
use super::edit;
use super::removed::{RemovedDevice, removed};
use super::settings::{self, Settings, SettingsError};
use crate::error::{OwnerError, io};
use crate::files::{
    is_open_to_others, lock_plant, make_folder, make_private, random, read_text, write_private, write_whole,
};
use crate::secrets::{SECRETS, SIGNING, Secrets, TOKEN, Unlock};

/// The file that makes a folder a plant.
pub const SETTINGS: &str = "sotto.toml";

pub(crate) const CLOUD: &str = "cloud.toml";

/// Bytes of readings that come down for a question at most, unless it says otherwise: a year of minutes and more.
pub const FETCHED: u64 = 8_000_000;

/// The records of devices.
const DEVICES: &str = "devices";

/// The folders, each with true if it is the owner's only. Missing ones are made when the plant is opened.
const FOLDERS: [(&str, bool); 4] =
    [(SECRETS, true), (DEVICES, false), ("enrolments", true), ("answers", true)];

/// A plant's folder, with its settings read and checked.
///
/// ```
/// use sotto_owner::{NewPlant, Plant};
///
/// # let folder = tempfile::tempdir()?;
/// # let dairy = folder.path().join("dairy");
/// let here = NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
/// Plant::init(&dairy, &here)?; // `dairy` is a folder that does not exist yet
/// let plant = Plant::open(&dairy)?;
/// assert_eq!(plant.settings().cloud.url, "http://127.0.0.1:7410");
/// assert!(plant.devices()?.is_empty());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Plant {
    folder: PathBuf,
    settings: Settings,
    removed: BTreeMap<String, RemovedDevice>,
    interrupt: Interrupt,
    secrets: Secrets,
    /// Bytes of readings that come down for a question, at most.
    pub(super) most_fetched: u64,
    /// True if sums of earlier answers answer questions, too.
    caches: bool,
}

/// Options for a new plant.
///
/// Example: [`Plant`]
#[derive(Clone, Debug)]
pub struct NewPlant {
    /// The cloud's address. None: a cloud on this machine at [`NewPlant::listen`].
    pub cloud: Option<String>,
    /// The address at which a cloud on this machine listens.
    pub listen: SocketAddr,
    /// The plant's time zone. None: UTC.
    pub time_zone: Option<String>,
}

impl Plant {
    /// Creates the folder of a new plant.
    ///
    /// # Errors
    /// [`OwnerError::Exists`] if there is already a plant; another [`OwnerError`] if the time zone is not known or the
    /// folder cannot be written.
    pub fn init(folder: &Path, new: &NewPlant) -> Result<Self, OwnerError> {
        let file = folder.join(SETTINGS);
        if file.exists() {
            return Err(OwnerError::Exists { path: file });
        }
        let token = folder.join(SECRETS).join(TOKEN);
        if token.exists() {
            return Err(OwnerError::NoSettings { path: token });
        }
        let signing = match new.cloud {
            // A cloud elsewhere generates its own key.
            Some(_) => None,
            None => {
                let mut rng = sotto_ring::secure_rng().map_err(|_| OwnerError::Randomness)?;
                Some(SigningIdentity::generate(&mut rng))
            }
        };
        let key = signing.as_ref().map(|signing| hex::encode(signing.verifying_key()));
        let url = new.cloud.clone().unwrap_or_else(|| format!("http://{}", new.listen));
        let zone = new.time_zone.as_deref().unwrap_or("UTC");
        let text = first_settings(&url, zone, key.as_deref());
        // Checked before anything is written.
        Settings::parse(&text)?;
        Cloud::new(&url, &"0".repeat(64))?;
        fs::create_dir_all(folder).map_err(io(folder))?;
        for (name, private) in FOLDERS {
            make_folder(&folder.join(name), private)?;
        }
        make_private(&token, Zeroizing::new(hex::encode(random::<32>()?)).as_bytes())?;
        if let Some(signing) = signing {
            let secret = Zeroizing::new(hex::encode(signing.expose_secret_bytes()));
            make_private(&folder.join(SECRETS).join(SIGNING), secret.as_bytes())?;
            write_whole(&folder.join(CLOUD), first_cloud(new.listen).as_bytes())?;
        }
        Secrets::of(folder).make_owner_key()?;
        // Written last: it makes the folder a plant.
        write_whole(&file, text.as_bytes())?;
        Self::open(folder)
    }

    /// Opens a plant.
    ///
    /// # Errors
    /// [`OwnerError`] if the folder has no `sotto.toml`, or it is invalid.
    pub fn open(folder: &Path) -> Result<Self, OwnerError> {
        let file = folder.join(SETTINGS);
        if !file.exists() {
            let token = folder.join(SECRETS).join(TOKEN);
            let lost = OwnerError::NoSettings { path: token.clone() };
            return Err(if token.exists() {
                lost
            } else {
                OwnerError::NoPlant { folder: folder.to_owned() }
            });
        }
        let settings = Settings::parse(&read_text(&file, settings::LARGEST)?)?;
        if settings.names_password() && is_open_to_others(&file) {
            return Err(OwnerError::OpenToOthers { path: file });
        }
        for (name, private) in FOLDERS {
            // A folder that only some work needs and that cannot be made is an error of that work.
            let _ = make_folder(&folder.join(name), private);
        }
        let secrets = Secrets::of(folder);
        let removed = removed(&folder.join(DEVICES), &settings);
        Ok(Self {
            folder: folder.to_owned(),
            settings,
            removed,
            interrupt: Interrupt::default(),
            secrets,
            most_fetched: FETCHED,
            caches: true,
        })
    }

    /// Opens the plant once more, so that later settings count. Its key stays open.
    ///
    /// # Errors
    /// Those of [`Plant::open`].
    pub fn reopened(&self) -> Result<Self, OwnerError> {
        let plant = Self::open(&self.folder)?;
        Ok(Self {
            interrupt: self.interrupt.clone(),
            secrets: self.secrets.reopened()?,
            most_fetched: self.most_fetched,
            caches: self.caches,
            ..plant
        })
    }

    /// Says how the passphrase of the plant, if it has one, is found.
    #[must_use]
    pub fn unlocking(self, unlock: Unlock) -> Self {
        Self { secrets: self.secrets.unlocking(unlock), ..self }
    }

    /// Asks the cloud for every sum of a question: none of an earlier answer is taken, and none is kept.
    #[must_use]
    pub fn without_cache(self) -> Self {
        Self { caches: false, ..self }
    }

    /// Returns true if sums of earlier answers answer questions, too.
    pub(crate) fn caches(&self) -> bool {
        self.caches
    }

    /// Finds the plant for a working directory: the folder itself, the nearest folder above it, or the only plant
    /// directly below it.
    ///
    /// # Errors
    /// [`OwnerError::NoPlant`] if there is none, [`OwnerError::SeveralPlants`] if there are several below.
    pub fn find(from: &Path) -> Result<Self, OwnerError> {
        if let Some(folder) = from.ancestors().find(|folder| folder.join(SETTINGS).exists()) {
            return Self::open(folder);
        }
        let below = fs::read_dir(from).map_err(io(from))?.filter_map(|entry| Some(entry.ok()?.path()));
        let mut below: Vec<PathBuf> = below.filter(|path| path.join(SETTINGS).exists()).collect();
        below.sort_unstable();
        match below.as_slice() {
            [folder] => Self::open(folder),
            // The folder itself or one below may have lost its sotto.toml.
            [] => Err(of_lost_settings(from).unwrap_or(OwnerError::NoPlant { folder: from.to_owned() })),
            _ => Err(OwnerError::SeveralPlants { folders: below }),
        }
    }

    /// Returns the folder with `sotto.toml`.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the settings in `sotto.toml`.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the devices with records that `sotto.toml` does not declare, by name.
    pub(crate) fn removed(&self) -> &BTreeMap<String, RemovedDevice> {
        &self.removed
    }

    /// Returns the name of a device in bundles, in the cloud and in the folder's files. A name of that kind stays.
    #[must_use]
    pub fn wire_device<'n>(&'n self, name: &'n str) -> &'n str {
        match self.removed.get(name) {
            Some(device) => &device.wire,
            None => self.settings.wire_device(name),
        }
    }

    /// Returns the name in `sotto.toml` of a device of the cloud, or the last one that it had there.
    pub(crate) fn shown_device<'n>(&'n self, wire: &'n str) -> &'n str {
        let removed = self.removed.iter().find(|(_, device)| device.wire == wire);
        removed.map_or_else(|| self.settings.shown_device(wire), |(name, _)| name)
    }

    /// Excludes other writers while a file of the folder is read, changed and written ([`lock_plant`]).
    pub(crate) fn lock_folder(&self) -> Result<fs::File, OwnerError> {
        lock_plant(&self.folder)
    }

    /// Returns a path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn secret_path(&self, name: &str) -> PathBuf {
        self.secrets.path(name)
    }

    /// The secrets of the folder.
    pub(crate) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Returns the token of the owner's requests.
    ///
    /// # Errors
    /// [`OwnerError`] if the file cannot be read, or others may read it.
    pub fn token(&self) -> Result<Zeroizing<String>, OwnerError> {
        let path = self.secret_path(TOKEN);
        if is_open_to_others(&path) {
            return Err(OwnerError::OpenToOthers { path });
        }
        let text = Zeroizing::new(read_text(&path, 4096)?);
        Ok(Zeroizing::new(text.trim().to_owned()))
    }

    /// Makes the secrets shared with the cloud that are gone: the owner's token and, for a cloud on this machine, its
    /// signing key, which is pinned; also the owner's signing key. Returns their files. The cloud takes its own when it starts
    /// again.
    ///
    /// # Errors
    /// [`OwnerError`] if a file cannot be written.
    pub fn make_cloud_secrets(&mut self) -> Result<Vec<PathBuf>, OwnerError> {
        let mut made = Vec::new();
        if let Some(lost) = self.secrets.lost_owner_key() {
            self.secrets.make_owner_key()?;
            made.push(lost);
        }
        let (token, signing) = (self.secret_path(TOKEN), self.secret_path(SIGNING));
        if !token.exists() {
            make_private(&token, Zeroizing::new(hex::encode(random::<32>()?)).as_bytes())?;
            made.push(token);
        }
        if self.has_cloud() && !signing.exists() {
            let mut rng = sotto_ring::secure_rng().map_err(|_| OwnerError::Randomness)?;
            let identity = SigningIdentity::generate(&mut rng);
            // Pinned first: a key that signs nothing does no harm.
            self.edit(|document| {
                edit::pin_cloud(document, &hex::encode(identity.verifying_key()));
                Ok(())
            })?;
            let secret = Zeroizing::new(hex::encode(identity.expose_secret_bytes()));
            make_private(&signing, secret.as_bytes())?;
            made.push(signing);
        }
        Ok(made)
    }

    /// Returns true if the folder has the configuration of a cloud on this machine.
    #[must_use]
    pub fn has_cloud(&self) -> bool {
        self.path(CLOUD).exists()
    }

    /// Returns true if a cloud on this machine has its signing key, or signs elsewhere.
    pub(crate) fn has_cloud_key(&self) -> bool {
        !self.has_cloud() || self.secret_path(SIGNING).exists()
    }

    /// Returns the plant's cloud.
    ///
    /// # Errors
    /// [`OwnerError`] if the token cannot be read, or the address is invalid.
    pub fn cloud(&self) -> Result<Cloud, OwnerError> {
        let cloud = Cloud::trusting(
            &self.settings.cloud.url,
            &self.token()?,
            &authority::trust(&self.folder, &self.settings.cloud)?,
        )?;
        Ok(cloud.interrupted_by(self.interrupt.clone()).explaining_token(self.other_token()))
    }

    /// Says which files differ if the cloud refuses the owner's token.
    fn other_token(&self) -> String {
        let own = self.secret_path(TOKEN);
        let file = "the file that `owner_token_file` names";
        let of_cloud = if self.has_cloud() {
            format!("{file} in {}", self.path(CLOUD).display())
        } else {
            format!("{file} in the configuration of the cloud at {}", self.settings.cloud.url)
        };
        format!(
            "the token in {} is not that in {of_cloud}: put the same token into both, and start the cloud again",
            own.display()
        )
    }

    /// Ends work with the cloud before its next request when the check says so, with
    /// [`CloudError::Interrupted`](sotto_cloud_client::CloudError::Interrupted).
    #[must_use]
    pub fn interrupted_by(self, interrupt: Interrupt) -> Self {
        Self { interrupt, ..self }
    }

    /// Replaces the text of `sotto.toml` by the result of `edit`, after checking it. The file is unchanged if anything
    /// fails. Reads the file again first, under a lock: edits by other processes stay, and are in the settings afterwards.
    ///
    /// `edit` must not edit the plant itself: that would wait for the lock without end.
    ///
    /// # Errors
    /// The error of `edit`; [`OwnerError::Argument`] if the present settings are valid and the new ones are not;
    /// [`OwnerError::Settings`] if the present ones are not.
    pub fn edit(
        &mut self,
        edit: impl FnOnce(&mut toml_edit::DocumentMut) -> Result<(), OwnerError>,
    ) -> Result<(), OwnerError> {
        let _lock = self.lock_folder()?;
        let (text, settings) = self.after(edit)?;
        let file = self.path(SETTINGS);
        if settings.names_password() {
            write_private(&file, text.as_bytes())?;
        } else {
            write_whole(&file, text.as_bytes())?;
        }
        self.removed = removed(&self.path(DEVICES), &settings);
        self.settings = settings;
        Ok(())
    }

    /// Returns the plant with an edit of `sotto.toml` that is checked and not written.
    ///
    /// # Errors
    /// Those of [`Plant::edit`].
    pub fn edited(
        &self,
        edit: impl FnOnce(&mut toml_edit::DocumentMut) -> Result<(), OwnerError>,
    ) -> Result<Self, OwnerError> {
        let (_, settings) = self.after(edit)?;
        Ok(Self {
            folder: self.folder.clone(),
            removed: removed(&self.path(DEVICES), &settings),
            settings,
            interrupt: self.interrupt.clone(),
            secrets: self.secrets.reopened()?,
            most_fetched: self.most_fetched,
            caches: self.caches,
        })
    }

    /// Returns the text of `sotto.toml` after an edit, and its settings.
    fn after(
        &self,
        edit: impl FnOnce(&mut toml_edit::DocumentMut) -> Result<(), OwnerError>,
    ) -> Result<(String, Settings), OwnerError> {
        let text = read_text(&self.path(SETTINGS), settings::LARGEST)?;
        let mut document: toml_edit::DocumentMut =
            text.parse().map_err(|error: toml_edit::TomlError| SettingsError::Toml(error.to_string()))?;
        Settings::parse(&text)?;
        edit(&mut document)?;
        let text = document.to_string();
        // The file is right without the edit: its arguments are wrong.
        let settings = Settings::parse(&text).map_err(|error| match error {
            SettingsError::Part { place, reason } => {
                OwnerError::Argument(format!("{place}: {reason}; nothing was written"))
            }
            error => error.into(),
        })?;
        Ok((text, settings))
    }
}

/// Returns the error of a folder, or one directly below it, that has a plant's secrets and no `sotto.toml`.
fn of_lost_settings(from: &Path) -> Option<OwnerError> {
    let below = fs::read_dir(from).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut tokens =
        from.ancestors().map(Path::to_owned).chain(below).map(|path| path.join(SECRETS).join(TOKEN));
    tokens.find(|token| token.exists()).map(|path| OwnerError::NoSettings { path })
}

/// Returns the first `sotto.toml`. Its comments explain it to a first reader.
fn first_settings(url: &str, zone: &str, key: Option<&str>) -> String {
    let keys = match key {
        Some(key) => format!("keys = [{}]", toml_edit::value(key)),
        None => "# keys = []            # pin it with `sotto cloud pin KEY`; `sotto-cloud key` prints it"
            .to_owned(),
    };
    let (url, zone) = (toml_edit::value(url).to_string(), toml_edit::value(zone).to_string());
    format!(
        "# Channels, questions and devices of this plant. Edit them here, or with `sotto channel`, `sotto question`, `sotto device`.
version = 1

# Hours and days begin by the clock of this time zone (a name of the IANA database).
time_zone = {zone}

# Answers are stored unencrypted in answers/. If this is set, older ones are deleted.
# keep_answers = 365      # days

# Answers of polynomials and models to questions that say `shared` are flooded with noise, under a budget for each key.
# [flooding]
# statistical_bits = 30
# results = 1000          # of a key, ever

[cloud]
# `sotto-cloud run --config cloud.toml` listens here.
url = {url}
# The key with which the cloud signs receipts, logs and transcripts; earlier ones after it.
{keys}

# One table a channel. The range belongs to the channel: a reading outside it is left out and counted.
# [channels.temperature]
# unit = \"°C\"
# range = [-20, 120]
# resolution = 0.1      # answers are exact but for half of it
# every = \"5m\"          # the time between two readings

# The declared questions decide what devices send and how it is encrypted.
# [questions]
# daily = \"mean(temperature), stddev(temperature) by day\"

# Standing alarms, evaluated by `sotto watch`.
# [alarms.hot]
# when = \"temperature > 80 for 3 windows\"
# clear = 75              # it ends when no reading is above 75
# webhook = \"https://…\"
# repeat = \"1d\"          # told again each day while it lasts, until `sotto alarm ack hot`
# mute = \"sat, sun; 22:00-06:00\"
# [alarms.dead]
# when = \"silent for 3h\"

# [devices.boiler]
# channels = [\"temperature\"]
"
    )
}

fn first_cloud(listen: SocketAddr) -> String {
    format!(
        "# The cloud of this plant, on this machine: `sotto-cloud run --config cloud.toml`.
# Paths are relative to this file. `sotto-cloud config print-default` shows every key.
listen = \"{listen}\"
data = \"cloud\"
owner_token_file = \"{SECRETS}/{TOKEN}\"
# Receipts, logs and transcripts are signed with this key, whose public half is pinned in sotto.toml.
signing_key_file = \"{SECRETS}/{SIGNING}\"
# Devices that the owner adds are registered from here.
enrolments = \"enrolments\"
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declared::edit;
    use crate::declared::settings::ChannelSettings;

    fn new() -> NewPlant {
        let listen = "127.0.0.1:7410".parse().expect("an address");
        NewPlant { cloud: None, listen, time_zone: Some("Europe/Vienna".into()) }
    }

    #[test]
    fn a_plant_is_found_from_its_folders_and_the_one_above() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(matches!(Plant::find(folder.path()), Err(OwnerError::NoPlant { .. })));
        let plant = folder.path().join("plant");
        Plant::init(&plant, &new()).expect("made");
        assert!(matches!(Plant::init(&plant, &new()), Err(OwnerError::Exists { .. })));
        for from in [folder.path().to_owned(), plant.clone(), plant.join("secrets")] {
            assert_eq!(Plant::find(&from).expect("found").folder(), plant);
        }
        Plant::init(&folder.path().join("second"), &new()).expect("made");
        assert!(matches!(Plant::find(folder.path()), Err(OwnerError::SeveralPlants { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn others_cannot_read_secrets() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let plant = Plant::init(&folder.path().join("plant"), &new()).expect("made");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(&plant.path(SECRETS)), 0o700);
        assert_eq!(mode(&plant.secret_path(TOKEN)), 0o600);
        assert_eq!(plant.token().expect("a token").len(), 64);
    }

    #[test]
    fn edits_keep_comments_and_wrong_ones_change_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut plant = Plant::init(&folder.path().join("plant"), &new()).expect("made");
        let (range, every) = ("-20..120".parse().expect("a range"), "5m".parse().expect("a period"));
        let channel = ChannelSettings::new("°C", range, 0.1, every);
        plant.edit(|document| edit::add_channel(document, "temperature", &channel)).expect("added");
        let text = fs::read_to_string(plant.path(SETTINGS)).expect("text");
        assert!(text.contains("# Hours and days begin") && text.contains("[channels.temperature]"), "{text}");
        let wrong = ChannelSettings { resolution: 1000.0, ..channel.clone() };
        assert!(plant.edit(|document| edit::add_channel(document, "humidity", &wrong)).is_err());
        assert_eq!(fs::read_to_string(plant.path(SETTINGS)).expect("text"), text);
        assert!(plant.settings().channels.contains_key("temperature"));
        let other =
            plant.edited(|document| edit::add_channel(document, "humidity", &channel)).expect("right");
        assert!(other.settings().channels.contains_key("humidity"), "in the copy alone");
        assert!(!plant.settings().channels.contains_key("humidity"));
        assert_eq!(fs::read_to_string(plant.path(SETTINGS)).expect("text"), text);
    }
}
