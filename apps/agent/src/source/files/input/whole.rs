//! Inputs of binary formats, which read bytes themselves.

use std::fs::File;
use std::io::{self, Read};

use super::{CHUNK, Chunks, From, Input, refused};
use crate::source::SourceError;
use crate::stop::Stop;

impl Input {
    /// Returns the stop request that ends every wait.
    pub(in crate::source) fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Returns the file, for a format that reads it at any place. `kind` names the format with its article.
    ///
    /// # Errors
    /// [`SourceError`] if it is compressed, a stream, or followed, or if an encoding is given.
    pub(in crate::source) fn file(self, kind: &str) -> Result<File, SourceError> {
        self.refuse_text(kind)?;
        match (self.from, self.packing) {
            (From::File { file, .. }, _) => Ok(file),
            (_, Some(packing)) => {
                let reason = format!(
                    "it is compressed ({}), and {kind} is read at any place: decompress it first",
                    packing.name()
                );
                Err(refused(&self.path, reason))
            }
            _ => Err(refused(
                &self.path,
                format!("{kind} is read at any place: write it to a file and name that"),
            )),
        }
    }

    /// Returns the bytes that are not consumed, and all behind them. `kind` names the format with its article.
    ///
    /// # Errors
    /// [`SourceError`] if the file is followed, or if an encoding is given.
    pub(in crate::source) fn reader(mut self, kind: &str) -> Result<Box<dyn Read + Send>, SourceError> {
        self.refuse_text(kind)?;
        let begin = io::Cursor::new(self.bytes().to_vec());
        Ok(match std::mem::replace(&mut self.from, From::Packed(Box::new(io::empty()))) {
            From::File { file, .. } => Box::new(begin.chain(io::BufReader::with_capacity(CHUNK, file))),
            From::Packed(packed) => Box::new(begin.chain(packed)),
            From::Stream(rest) => Box::new(Chunks { begin, rest, stop: self.stop.clone() }),
        })
    }

    /// Refuses options that are about text, for a binary format.
    fn refuse_text(&self, kind: &str) -> Result<(), SourceError> {
        let option = match (self.follow, &self.decoder) {
            (true, _) => "--follow: it is written as a whole",
            (_, Some(_)) => "--encoding: it has one of its own",
            _ => return Ok(()),
        };
        Err(refused(&self.path, format!("{kind} does not go with {option}")))
    }
}
