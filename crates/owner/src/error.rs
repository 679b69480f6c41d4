//! Reasons why the owner's commands fail.

use std::path::{Path, PathBuf};

use sotto_api::reason::BODY_DROPPED;
use sotto_cloud_client::CloudError;

use crate::backup::BackupError;
use crate::declared::settings::SettingsError;
use crate::lie::Lie;
use crate::secrets::SecretsError;

/// The reason why a command failed, with a remedy. Contains no secret and no reading.
///
/// ```
/// use sotto_owner::{OwnerError, Plant};
///
/// # let folder = tempfile::tempdir()?;
/// let error = Plant::open(folder.path()).expect_err("the folder is empty");
/// assert!(matches!(error, OwnerError::NoPlant { .. }));
/// assert_eq!(error.exit_code(), 3);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
pub enum OwnerError {
    /// The folder has no `sotto.toml`.
    #[error("{} is no plant: there is no sotto.toml. Make one with `sotto init NAME`, or name one with --plant DIR", folder.display())]
    NoPlant {
        /// Where a plant was looked for.
        folder: PathBuf,
    },
    /// Several folders below have one.
    #[error("there are several plants here ({}): name one with --plant DIR", list(folders))]
    SeveralPlants {
        /// All that were found.
        folders: Vec<PathBuf>,
    },
    /// A file exists and must not be overwritten.
    #[error("{} is there already: nothing was changed", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file of a bundle exists and must not be overwritten.
    #[error(
        "{0} is there already: nothing was changed. Name another file for the new bundle with --bundle FILE; `sotto device adopt {0}` \
         brings the device of this one back",
        path.display()
    )]
    BundleExists {
        /// The file.
        path: PathBuf,
    },
    /// A device without a record whose secret exists: a new secret would make its past readings unreadable.
    #[error(
        "{} is the secret of {device}, whose record devices/{device}.json is missing: nothing was changed. \
         Neither its registration nor the cloud has a copy that this secret opens. `sotto device adopt {device}.bundle` takes \
         the record from a bundle; `sotto device add {device} … --replace` puts the secret aside and begins anew: what the \
         device sent until now cannot be asked any more",
        path.display()
    )]
    HeldSecret {
        /// The device's name.
        device: String,
        /// The file of the secret.
        path: PathBuf,
    },
    /// A device whose secret is gone.
    #[error(
        "{} is missing: `sotto device adopt {device}.bundle` brings it back from a bundle, or restore the file from a backup; \
         without a copy the readings of {device} are lost",
        path.display()
    )]
    MissingSecret {
        /// The device's name.
        device: String,
        /// The file of the secret.
        path: PathBuf,
    },
    /// A device whose record cannot be read.
    #[error(
        "{} is damaged: {reason}. `sotto device adopt {device}.bundle` brings the record back from a bundle or the cloud",
        path.display()
    )]
    DamagedRecord {
        /// The device's name.
        device: String,
        /// The file of the record.
        path: PathBuf,
        /// The parser's words.
        reason: String,
    },
    /// Another copy of the plant's folder has written a device's registration.
    #[error(
        "device {device} was written by another copy of this folder, or by a command of this one that was interrupted: \
         {write}; nothing was changed{}. `sotto device take {device}` takes its record over",
        only_here(*unregistered)
    )]
    OtherCopy {
        /// The device's name.
        device: String,
        /// The cloud's words about the write: its time and its address.
        write: String,
        /// The number of the folder's last bundle, if the cloud does not know it.
        unregistered: Option<usize>,
    },
    /// The cloud knows another device of this name.
    #[error(
        "the cloud knows a device {device} with another secret: {write}; nothing was changed. If it is of another copy of \
         this folder, `sotto device adopt {device}.bundle` takes it from its bundle; else choose another name"
    )]
    OtherDevice {
        /// The device's name.
        device: String,
        /// The cloud's words about the write: its time and its address.
        write: String,
    },
    /// The cloud has no copy of a device's record.
    #[error("the cloud has no record of {device} to take: `sotto status` registers the one in this folder")]
    NothingToTake {
        /// The device's name.
        device: String,
    },
    /// A link in the place of a secret or a record.
    #[error(
        "{} is a link, which no backup holds and no passphrase protects: nothing was changed. This puts its file there: {}",
        path.display(), unlinked(path)
    )]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// A secret that others may read.
    #[error("{} can be read by others: run chmod 600 on it", path.display())]
    OpenToOthers {
        /// The file.
        path: PathBuf,
    },
    /// The secrets of a plant without its settings.
    #[error(
        "{} belongs to a plant whose sotto.toml is missing: nothing was changed. `sotto restore FILE --to FOLDER` brings it back from a \
         backup; a new plant needs another folder",
        path.display()
    )]
    NoSettings {
        /// The file with the owner's token.
        path: PathBuf,
    },
    /// A bundle with another secret than that of the device of its name.
    #[error(
        "{} is of another {device} than this plant's: its secret is not the one in secrets/{device}.key; nothing was changed",
        path.display()
    )]
    OtherSecret {
        /// The device's name.
        device: String,
        /// The bundle.
        path: PathBuf,
    },
    /// The operating system refuses access.
    #[error("{} cannot be used: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// A file is longer than its limit.
    #[error("{} is too long: it may have {limit} bytes", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// A file of the plant's folder is damaged.
    #[error("{} is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The parser's words, or the fault found.
        reason: String,
    },
    /// The plant has no authority of its own.
    #[error("{} is no authority's key: make one with `sotto tls init`", path.display())]
    NoAuthority {
        /// The file that is missing or holds no authority's key.
        path: PathBuf,
    },
    /// No certificate can be issued for this host.
    #[error("{0:?} is no host that a certificate can be for: a DNS name or an IP address, without a port")]
    Host(String),
    /// The certificate cannot be made.
    #[error("the certificate cannot be made: {0}")]
    Certificate(rcgen::Error),
    /// The operating system provides no randomness.
    #[error("the operating system gives no randomness")]
    Randomness,
    /// `sotto.toml` cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// An option or an argument is wrong: `sotto.toml` with it could not be used, and stays as it is.
    #[error("{0}")]
    Argument(String),
    /// A name is already declared.
    #[error("{kind}.{name} is declared already: edit sotto.toml to change it")]
    Declared {
        /// The table.
        kind: &'static str,
        /// The name that exists.
        name: String,
    },
    /// A name is not declared.
    #[error("there is no {kind} {name} in sotto.toml")]
    NotDeclared {
        /// The kind of declaration.
        kind: &'static str,
        /// The name that was asked for.
        name: String,
    },
    /// A channel cannot be removed while a device measures it or a question uses it.
    #[error("channel {channel} is still in use: first {}", first.join(", "))]
    InUse {
        /// The channel's name.
        channel: String,
        /// Commands that end its use.
        first: Vec<String>,
    },
    /// The plant's secrets cannot be opened or sealed.
    #[error(transparent)]
    Secrets(#[from] SecretsError),
    /// A backup cannot be made or used.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// A key file cannot be used.
    #[error(transparent)]
    Key(#[from] sotto_keys::KeyFileError),
    /// An answer cannot be flooded within its key's budget.
    #[error(transparent)]
    Flooding(#[from] sotto_decrypt::PublishError),
    /// An answer was not verified completely, so it is not released: a forged answer may reveal anything, even the
    /// secret key.
    #[error("answer {name} {}: run `sotto verify {name}` first", not_verified(*sampled))]
    NotVerified {
        /// The answer.
        name: String,
        /// The fraction of the work that was repeated; None if none was.
        sampled: Option<f64>,
    },
    /// An answer cannot be published in the requested form.
    #[error("the answer cannot be published in this form: {reason}")]
    CannotPublish {
        /// The reason and a remedy.
        reason: String,
    },
    /// The cloud is unreachable or refuses.
    #[error("{0}{hint}", hint = hint(.0))]
    Cloud(CloudError),
    /// A question cannot be read; the text points at the place.
    #[error("{0}")]
    Question(String),
    /// The time of a question is empty: it ends before it begins. The text points at the place.
    #[error("{0}")]
    EmptyTime(String),
    /// A question names a device whose record and secret were deleted.
    #[error("{0}")]
    SecretDestroyed(String),
    /// No device is enrolled that could answer a question; the text has the remedy.
    #[error("{0}")]
    NotEnrolled(String),
    /// A question cannot be answered; the text has the reason and a remedy.
    #[error("{0}")]
    Unanswerable(String),
    /// A command has nothing to do now, or another process does it; the text has the reason.
    #[error("{0}")]
    NotNow(String),
    /// An alarm cannot be evaluated.
    #[error(
        "alarm {name} cannot be evaluated, and `sotto watch` skips none: {reason}. {remedy}, or remove the alarm with `sotto alarm remove \
         {name}`"
    )]
    Alarm {
        /// The alarm's name.
        name: String,
        /// The reason.
        reason: String,
        /// The file to mend or to move away.
        remedy: String,
    },
    /// Windows were encrypted for other questions, with parameters that do not suffice for the values or the noise of
    /// this one.
    #[error(
        "the windows that {device} has sent cannot carry this question: declare it with `sotto question add NAME '…'`, give the device a new bundle with `sotto device renew {device}`, and send the file again"
    )]
    CannotCarry {
        /// The device's name.
        device: String,
    },
    /// No parameters are suitable for the questions.
    #[error("{0}")]
    NoParameters(String),
    /// A statement of the cloud is false.
    #[error("the cloud is not to be believed: {0}")]
    Lie(Lie),
    /// The cloud's log is another one than the one that was shown before it was accepted.
    #[error(
        "the cloud's log of stream {stream} of {device} has changed since it was shown: nothing was accepted. Look at it again with \
         `sotto cloud accept --all`"
    )]
    ChangedLog {
        /// The device's name.
        device: String,
        /// The stream's name.
        stream: String,
    },
    /// An answer does not hold: the cloud's work was repeated here.
    #[error("the answer does not hold: {reason}")]
    NotHeld {
        /// The false statement of the cloud.
        reason: String,
    },
    /// A job of the cloud did not end in time.
    #[error(
        "job {job} has not ended after {seconds} s: the cloud is busy, or does not mean to answer. `job_limit = \"1h\"` in [cloud] of \
         sotto.toml waits longer"
    )]
    NoEnd {
        /// The job's id.
        job: String,
        /// The limit in seconds.
        seconds: u64,
    },
    /// The work behind an answer cannot be repeated.
    #[error("the answer was not verified: {reason}")]
    NotRepeated {
        /// The reason why not.
        reason: String,
    },
    /// The cloud does not have a window of the work any more, and the owner did not delete it.
    #[error(
        "window {window}… is in no log of the cloud any more, and was not deleted from here: its part of the answer cannot be repeated"
    )]
    Gone {
        /// The first digits of its leaf.
        window: String,
    },
    /// The work behind an answer could not be repeated on three days.
    #[error(
        "{answer} could not be repeated on {days} days: the cloud is away, or holds back what it takes to find a lie. Do not act on the \
         answer's work that carries no tags. The last reason: {reason}"
    )]
    Withheld {
        /// The answer's name.
        answer: String,
        /// Number of days.
        days: u64,
        /// The last reason.
        reason: String,
    },
    /// Windows whose own tags do not fit, as their device signed them: a fault of the device.
    #[error("{device} has signed windows that cannot be opened: {}", faulty(windows))]
    FaultyWindows {
        /// The device's name.
        device: String,
        /// The windows.
        windows: Vec<FaultyWindow>,
    },
    /// A row of sums that another engine added up is not the sum of its windows; the text names them.
    #[error("{0}")]
    OtherSums(String),
    /// The cloud's answer does not match the plan.
    #[error("the cloud's answer is not the one that was asked for: {0}")]
    WrongAnswer(String),
}

/// A window whose own tag does not fit what it holds.
///
/// Example: [`OwnerError`]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultyWindow {
    /// The window's identity in the plant.
    pub identity: sotto_wire::Digest,
    /// The stream's name.
    pub stream: String,
    /// Its number in the stream.
    pub sequence: u64,
}

// These three have no error source: the message already contains theirs, and a chain would print it twice.

impl From<CloudError> for OwnerError {
    fn from(error: CloudError) -> Self {
        Self::Cloud(error)
    }
}

impl From<Lie> for OwnerError {
    fn from(lie: Lie) -> Self {
        Self::Lie(lie)
    }
}

impl From<rcgen::Error> for OwnerError {
    fn from(error: rcgen::Error) -> Self {
        Self::Certificate(error)
    }
}

impl OwnerError {
    /// Returns the error of an answer that does not match the request.
    pub(crate) fn wrong(reason: &str) -> Self {
        Self::WrongAnswer(reason.to_owned())
    }

    /// Returns the exit code of a command that ends with this error: 1 if there is nothing to do now, 2 for a wrong argument and
    /// a name that is none or taken, 3 for the plant's folder, 4 for the question, 5 if the cloud is unreachable, 6 if the cloud refused, 7 if
    /// an answer does not match, 8 if its work could not be repeated on three days, 14 if the secret of a device was destroyed,
    /// 16 if no device is enrolled that could answer, 17 if the time of the question is empty. (Code 2 is for all invalid
    /// arguments, 10 to 15 are also those of [`Cause`](crate::Cause).)
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NotNow(_) => 1,
            Self::Argument(_) | Self::Declared { .. } | Self::NotDeclared { .. } => 2,
            Self::Question(_) | Self::Unanswerable(_) | Self::CannotCarry { .. } | Self::NoParameters(_) => 4,
            Self::Cloud(CloudError::Away { .. } | CloudError::Tls(_)) => 5,
            Self::Cloud(_)
            | Self::NoEnd { .. }
            | Self::NotRepeated { .. }
            | Self::Gone { .. }
            | Self::OtherCopy { .. }
            | Self::OtherDevice { .. } => 6,
            Self::SecretDestroyed(_) => 14,
            Self::NotEnrolled(_) => 16,
            Self::EmptyTime(_) => 17,
            Self::WrongAnswer(_)
            | Self::OtherSums(_)
            | Self::Lie(_)
            | Self::ChangedLog { .. }
            | Self::NotHeld { .. }
            | Self::FaultyWindows { .. } => 7,
            Self::Withheld { .. } => 8,
            _ => 3,
        }
    }
}

/// Returns a remedy for an error of the cloud.
fn hint(error: &CloudError) -> &'static str {
    match error {
        CloudError::Away { .. } => {
            "; a cloud on this machine is started with `sotto-cloud run --config cloud.toml` (the file is in the plant's folder)"
        }
        CloudError::Refused { kind, .. } if kind.ends_with(BODY_DROPPED) => {
            "; an answer made from it cannot be computed again: ask for the present answer"
        }
        _ => "",
    }
}

impl From<sotto_decrypt::BudgetError> for OwnerError {
    fn from(error: sotto_decrypt::BudgetError) -> Self {
        Self::Flooding(error.into())
    }
}

fn not_verified(sampled: Option<f64>) -> String {
    match sampled {
        None => "was not verified, and an answer that the cloud made up may be the secret key".to_owned(),
        Some(part) => format!(
            "was verified in part ({:.0} % of the work), which is not enough to give it away",
            100.0 * part
        ),
    }
}

/// Returns the first windows in words: "window 17 of exact-1h".
pub(crate) fn faulty(windows: &[FaultyWindow]) -> String {
    let name = |window: &FaultyWindow| format!("window {} of {}", window.sequence, window.stream);
    let mut names: Vec<String> = windows.iter().take(4).map(name).collect();
    if windows.len() > names.len() {
        names.push(format!("and {} more", windows.len() - names.len()));
    }
    names.join(", ")
}

fn only_here(bundle: Option<usize>) -> String {
    bundle.map_or_else(String::new, |number| {
        format!(
            ". Bundle {number}, which only this folder knows, is not registered: the cloud refuses its windows until then"
        )
    })
}

/// Returns the command that puts the file of a link in its place.
pub(crate) fn unlinked(path: &Path) -> String {
    let path = path.display().to_string().replace('\'', r"'\''");
    format!("cp --remove-destination \"$(realpath '{path}')\" '{path}'")
}

/// Adds the path to an error of the system.
pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> OwnerError {
    let path = path.to_owned();
    move |error| OwnerError::Io { path, error }
}

fn list(folders: &[PathBuf]) -> String {
    folders.iter().take(8).map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
}
