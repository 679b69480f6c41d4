//! `sotto seal convert`.

use std::process::ExitCode;

use sotto_rlwe::with_scheme;

use super::arguments::Convert;
use super::files;
use super::from_seal::{self, from_seal};
use super::parameters;
use super::to_seal::{self, to_seal};
use crate::output::say;
use crate::run::Run;

impl Run for Convert {
    fn run(self) -> anyhow::Result<ExitCode> {
        let bytes = files::read(&self.file)?;
        let ours = bytes.starts_with(b"sott");
        let converted = match &self.parameters {
            Some(path) => {
                let spec = parameters::read(path, self.scale_bits)?;
                let scheme = spec.scheme;
                if ours {
                    with_scheme!(scheme, S => to_seal::<S>(spec, &bytes, &self))?
                } else {
                    with_scheme!(scheme, S => from_seal::<S>(spec, &bytes, &self))?
                }
            }
            None if ours => to_seal::parameters(&bytes, &self)?,
            None => from_seal::parameters(&bytes, &self)?,
        };
        for (path, bytes) in &converted.files {
            files::write(path, bytes, converted.private)?;
        }
        say(converted.said);
        Ok(ExitCode::SUCCESS)
    }
}
