//! `sotto seal convert`.

use std::process::ExitCode;

use super::arguments::Convert;
use super::files;
use super::from_seal::{self, from_seal};
use super::parameters::{self, for_scheme};
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
                    for_scheme!(scheme, to_seal(spec, &bytes, &self))?
                } else {
                    for_scheme!(scheme, from_seal(spec, &bytes, &self))?
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
