//! Deletes kept messages that the owner has ordered to be deleted.

use sotto_wire::Envelope;

use super::super::durable::{self, Audience};
use super::super::error::SpoolError;
use super::message::{self, ArchivedMessage};
use super::{Archive, ArchivedFile};

impl Archive {
    /// Deletes the windows of a stream that ended before a time, by the owner's order: milliseconds since 1970. Files that
    /// cannot be read are deleted, too: nobody knows their times.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if a file cannot be deleted.
    pub fn forget(&self, stream: &str, until: i64) -> Result<(), SpoolError> {
        if self.followed(stream).forgotten.is_some_and(|done| until <= done) {
            return Ok(());
        }
        for file in self.files_of(stream) {
            self.forget_in(&file, until)?;
        }
        self.note(stream, |followed| followed.forgotten = Some(until));
        Ok(())
    }

    /// Deletes the windows of a file that ended before a time.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if the file cannot be deleted.
    pub fn forget_in(&self, file: &ArchivedFile, until: i64) -> Result<(), SpoolError> {
        let stays = |window: &&Envelope| window.header().ended_at >= until;
        match self.read(file) {
            Err(error @ SpoolError::Io { .. }) => return Err(error),
            Ok(message) if message.windows().iter().all(|window| stays(&window)) => return Ok(()),
            Ok(ArchivedMessage::Group(group)) => {
                // Members have their places in the group, and so its signature.
                for window in group.windows().iter().filter(stays) {
                    let (file, bytes) = message::alone(file.confirmed_at, window);
                    let path = self.folder.join(file.name());
                    if let Err(error) = durable::write(&path, &bytes, Audience::Owner) {
                        tracing::warn!(path = %path.display(), %error, "a confirmed message is not kept");
                    }
                }
            }
            _ => {}
        }
        let path = self.folder.join(file.name());
        durable::remove_if_there(&path).map_err(SpoolError::io(&path))?;
        self.list()
    }
}
