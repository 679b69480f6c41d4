//! Groups of commands on one part of a plant, such as `sotto channel`.

use std::process::ExitCode;

use clap::Subcommand;
use sotto_owner::Plant;

use super::Place;
use crate::run::Run;

/// The commands of a group, and the plant that they work on.
#[derive(clap::Args, Debug)]
pub(crate) struct Group<C: Subcommand> {
    #[command(subcommand)]
    command: C,
    #[command(flatten)]
    place: Place,
}

/// A command on an open plant.
pub(crate) trait OnPlant {
    fn run(self, plant: &mut Plant) -> anyhow::Result<ExitCode>;
}

impl<C: Subcommand + OnPlant> Run for Group<C> {
    fn run(self) -> anyhow::Result<ExitCode> {
        self.command.run(&mut self.place.open()?)
    }
}
