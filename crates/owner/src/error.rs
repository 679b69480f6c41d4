//! Why the owner's work cannot be done.

use std::path::{Path, PathBuf};

use sotto_cloud_client::CloudError;

use crate::settings::SettingsError;

/// Why the owner's work cannot be done, and the way out. Holds no secret and no reading.
#[derive(Debug, thiserror::Error)]
pub enum OwnerError {
    /// No `sotto.toml`.
    #[error("{} is no plant: there is no sotto.toml. Make one with `sotto init NAME`, or name one with --plant DIR", folder.display())]
    NoPlant {
        /// The folder.
        folder: PathBuf,
    },
    /// Several folders below hold one.
    #[error("there are several plants here ({}): name one with --plant DIR", list(folders))]
    SeveralPlants {
        /// The folders.
        folders: Vec<PathBuf>,
    },
    /// A file that must not be overwritten.
    #[error("{} is there already: nothing was changed", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The system refuses.
    #[error("{} cannot be used: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file is longer than such a file is.
    #[error("{} is too long: it may have {limit} bytes", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The most bytes.
        limit: u64,
    },
    /// A file of the plant's folder is not as it was written.
    #[error("{} is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// There is no authority of the plant's own.
    #[error("{} is no authority's key: make one with `sotto tls init`", path.display())]
    NoAuthority {
        /// The file that is missing, or holds no such key.
        path: PathBuf,
    },
    /// A certificate cannot be for this host.
    #[error("{0:?} is no host that a certificate can be for: a DNS name or an IP address, without a port")]
    Host(String),
    /// A certificate cannot be made.
    #[error("the certificate cannot be made: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The operating system gave no randomness.
    #[error("the operating system gives no randomness")]
    Randomness,
    /// `sotto.toml` cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A name is taken.
    #[error("{kind}.{name} is declared already: edit sotto.toml to change it")]
    Declared {
        /// The table.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A name is not declared.
    #[error("there is no {kind} {name} in sotto.toml")]
    NotDeclared {
        /// Of what kind.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A channel cannot be removed while devices measure it or questions are about it.
    #[error("channel {channel} is still in use: first {}", first.join(", "))]
    InUse {
        /// The channel.
        channel: String,
        /// The commands that make it free.
        first: Vec<String>,
    },
    /// A key file cannot be used.
    #[error(transparent)]
    Key(#[from] sotto_keys::KeyFileError),
    /// An answer cannot be flooded under its key's budget.
    #[error(transparent)]
    Flooding(#[from] sotto_decrypt::PublishError),
    /// An answer whose transcript was not checked as a whole is not given away: it may be anything, even the secret key.
    #[error("answer {name} {}: run `sotto verify {name}` first", not_verified(*sampled))]
    NotVerified {
        /// The answer.
        name: String,
        /// The part of the work that was repeated; None where none was.
        sampled: Option<f64>,
    },
    /// An answer cannot leave in the way that was asked for.
    #[error("it cannot be published so: {reason}")]
    CannotPublish {
        /// Why, and the way out.
        reason: String,
    },
    /// The cloud is away, or refuses.
    #[error("{0}{hint}", hint = hint(.0))]
    Cloud(#[from] CloudError),
    /// A question cannot be read; the text points at the place.
    #[error("{0}")]
    Question(String),
    /// A question cannot be answered: the reason and the way out.
    #[error("{0}")]
    Unanswerable(String),
    /// Windows were encrypted for other questions: their parameters bear neither the values nor the noise of this one.
    #[error(
        "the windows that {device} has sent cannot carry this question: declare it with `sotto question add NAME '…'`, give the device a new bundle with `sotto device renew {device}`, and send the file again"
    )]
    CannotCarry {
        /// The device.
        device: String,
    },
    /// No parameters serve the questions.
    #[error("{0}")]
    NoParameters(String),
    /// A statement of the cloud does not hold.
    #[error("the cloud is not to be believed: {0}")]
    Lie(crate::trust::Lie),
    /// The cloud's answer does not fit the plan.
    #[error("the cloud's answer is not the one that was asked for: {0}")]
    WrongAnswer(String),
}

/// Without a source: the message names the statement already, and a chain of errors would show it twice.
impl From<crate::trust::Lie> for OwnerError {
    fn from(lie: crate::trust::Lie) -> Self {
        Self::Lie(lie)
    }
}

impl OwnerError {
    /// The exit code of a command that ends with this error: 2 wrong words, 3 the plant's folder, 4 the question, 5 the cloud is away,
    /// 6 the cloud refused, 7 an answer that does not fit.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Question(_) | Self::Unanswerable(_) | Self::CannotCarry { .. } | Self::NoParameters(_) => 4,
            Self::Cloud(CloudError::Away { .. } | CloudError::Tls(_)) => 5,
            Self::Cloud(_) => 6,
            Self::WrongAnswer(_) | Self::Lie(_) => 7,
            _ => 3,
        }
    }
}

/// The way out of a cloud's error.
fn hint(error: &CloudError) -> &'static str {
    match error {
        CloudError::Away { .. } => {
            "; a cloud on this machine is started with `sotto-cloud run --config cloud.toml` (the file is in the plant's folder)"
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

/// Gives an error of the system its path.
pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> OwnerError {
    let path = path.to_owned();
    move |error| OwnerError::Io { path, error }
}

fn list(folders: &[PathBuf]) -> String {
    folders.iter().take(8).map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
}
