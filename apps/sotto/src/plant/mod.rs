//! The owner's commands on a plant's folder: each is a thin layer over `sotto-owner`.

mod alarm;
mod answers;
mod ask;
mod channel;
mod cloud;
mod device;
mod forget;
mod init;
mod plan;
mod progress;
mod publish;
mod question;
mod show;
mod status;
mod tls;
mod verify;
mod watch;

use std::path::PathBuf;

use sotto_owner::{OwnerError, Plant};

pub(crate) use alarm::Arguments as AlarmArguments;
pub(crate) use answers::Arguments as AnswersArguments;
pub(crate) use ask::Arguments as AskArguments;
pub(crate) use channel::Arguments as ChannelArguments;
pub(crate) use cloud::Arguments as CloudArguments;
pub(crate) use device::Arguments as DeviceArguments;
pub(crate) use forget::Arguments as ForgetArguments;
pub(crate) use init::Arguments as InitArguments;
pub(crate) use plan::Arguments as PlanArguments;
pub(crate) use publish::Arguments as PublishArguments;
pub(crate) use question::Arguments as QuestionArguments;
pub(crate) use status::Arguments as StatusArguments;
pub(crate) use tls::Arguments as TlsArguments;
pub(crate) use verify::Arguments as VerifyArguments;
pub(crate) use watch::Arguments as WatchArguments;

pub(crate) use alarm::run as alarm;
pub(crate) use answers::run as answers;
pub(crate) use ask::run as ask;
pub(crate) use channel::run as channel;
pub(crate) use cloud::run as cloud;
pub(crate) use device::run as device;
pub(crate) use forget::run as forget;
pub(crate) use init::run as init;
pub(crate) use plan::run as plan;
pub(crate) use publish::run as publish;
pub(crate) use question::run as question;
pub(crate) use status::run as status;
pub(crate) use tls::run as tls;
pub(crate) use verify::run as verify;
pub(crate) use watch::run as watch;

pub(crate) use show::number;

/// The plant that a command works on.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Place {
    /// The plant's folder [default: this folder, the nearest above it, or the only one in it]
    #[arg(long, value_name = "DIR", env = "SOTTO_PLANT", global = true)]
    plant: Option<PathBuf>,
}

impl Place {
    pub(crate) fn open(&self) -> Result<Plant, OwnerError> {
        match &self.plant {
            Some(folder) => Plant::open(folder),
            None => Plant::find(&std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."))),
        }
    }
}
