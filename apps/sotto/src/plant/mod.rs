//! The owner's commands on a plant's folder: each is a thin layer over `sotto-owner`.

mod alarm;
mod answers;
mod ask;
mod backup;
mod bytes;
mod cache;
mod channel;
mod check;
mod cloud;
pub(crate) mod device;
pub(crate) mod export;
mod forget;
mod from_readings;
mod group;
mod init;
mod mute;
mod open_sums;
mod options;
mod parameters;
mod passphrase;
pub(crate) mod plan;
pub(crate) mod price;
mod progress;
mod publish;
mod question;
mod report;
mod retain;
mod show;
mod status;
mod tag;
mod tls;
mod top;
mod verify;
mod watch;

use std::path::PathBuf;

use sotto_owner::{OwnerError, Plant, Unlock};

pub(crate) use alarm::Alarm;
pub(crate) use answers::Answers;
pub(crate) use ask::{Ask, asked};
pub(crate) use backup::{Backup, Restore};
pub(crate) use cache::Cache;
pub(crate) use channel::Channel;
pub(crate) use check::Check;
pub(crate) use cloud::Cloud;
pub(crate) use device::Device;
pub(crate) use forget::Forget;
pub(crate) use group::Group;
pub(crate) use init::Init;
pub(crate) use open_sums::OpenSums;
pub(crate) use options::as_options;
pub(crate) use passphrase::{Lock, Passphrase, UnlockFor};
pub(crate) use plan::Plan;
pub(crate) use publish::Publish;
pub(crate) use question::{Question, declare_question, parameters_of};
pub(crate) use report::Report;
pub(crate) use retain::Retain;
pub(crate) use status::Status;
pub(crate) use tls::Tls;
pub(crate) use top::Top;
pub(crate) use verify::Verify;
pub(crate) use watch::WatchAlarms;

pub(crate) use show::number;

/// The plant that a command works on.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Place {
    /// The plant's folder [default: this folder, the nearest above it, or the only one in it]
    #[arg(long, value_name = "DIR", env = "SOTTO_PLANT", global = true)]
    plant: Option<PathBuf>,
    /// The file that holds the plant's passphrase, if it has one [default: systemd's credential `sotto`, then `sotto unlock`,
    /// then a question on the terminal]
    #[arg(long, value_name = "FILE", env = "SOTTO_PASSPHRASE_FILE", global = true)]
    passphrase_file: Option<PathBuf>,
}

impl Place {
    pub(crate) fn open(&self) -> Result<Plant, OwnerError> {
        Ok(self.found()?.unlocking(self.unlock()))
    }

    /// Opens the plant so that nobody is asked for its passphrase on the terminal.
    pub(crate) fn open_unasked(&self) -> Result<Plant, OwnerError> {
        Ok(self.found()?.unlocking(self.unlock_unasked()))
    }

    fn found(&self) -> Result<Plant, OwnerError> {
        match &self.plant {
            Some(folder) => Plant::open(folder),
            None => Plant::find(&std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."))),
        }
    }

    fn unlock(&self) -> Unlock {
        self.unlock_unasked().asking(passphrase::ask)
    }

    fn unlock_unasked(&self) -> Unlock {
        self.passphrase_file.as_ref().map_or_else(Unlock::default, Unlock::by_file)
    }
}
