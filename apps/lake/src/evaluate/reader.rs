//! Reads envelopes, keys and plans of the store of this process.

use std::cell::RefCell;
use std::sync::Arc;

use sotto_program::Plan;
use sotto_wire::{
    Body, Envelope, LARGEST_ENVELOPE, LARGEST_PLAN, StreamHeader, WireError, frame_digest, message_digest,
};
use tokio::runtime::Handle;

use crate::LakeError;
use crate::ciphertexts::Stored;
use crate::store::{Files, Object};

/// A thread that reads files of the store, and waits for a bucket's.
pub(super) struct Reader<'r> {
    pub(super) files: &'r Files,
    pub(super) bucket: Option<Handle>,
}

impl Reader<'_> {
    /// Reads a file, and makes something of its bytes.
    pub(super) fn made<T>(
        &self,
        object: Object,
        most: u64,
        make: impl Fn(&[u8]) -> Result<T, String>,
    ) -> Result<T, LakeError> {
        let made = RefCell::new(None);
        self.files.object(object, most, self.bucket.as_ref(), |bytes| {
            *made.borrow_mut() = Some(make(bytes)?);
            Ok(())
        })?;
        made.into_inner().ok_or_else(|| LakeError::Gone(object.to_string()))
    }

    /// Reads a ciphertext, whose envelope has the digest of its row.
    pub(super) fn body(&self, stored: &Stored) -> Result<Body, LakeError> {
        let read = |bytes: &[u8]| {
            if message_digest(bytes)? != stored.digest {
                return Ok(None);
            }
            if stored.header.is_empty() {
                return Envelope::read(bytes, LARGEST_ENVELOPE).map(Some);
            }
            let header = StreamHeader::read(&stored.header)?;
            Envelope::read_window(bytes, &Arc::new(header)).map(Some)
        };
        let another = || "it is not the envelope that was stored".to_owned();
        self.made(Object::Envelope(stored.id), LARGEST_ENVELOPE, |bytes| {
            let envelope = read(bytes).map_err(|error: WireError| format!("{}: {error}", another()))?;
            envelope.map(Envelope::into_body).ok_or_else(another)
        })
    }

    /// Reads a plan that the owner has stored in the cloud.
    pub(super) fn plan(&self, id: [u8; 32]) -> Result<Plan, LakeError> {
        let plan = self.made(Object::Plan(id), LARGEST_PLAN, |bytes| {
            match frame_digest(bytes) {
                Ok(digest) if digest == id => {}
                _ => return Err("its bytes are another plan's".to_owned()),
            }
            sotto_wire::read_plan(bytes).map_err(|error| error.to_string())
        });
        plan.map_err(|error| match error {
            LakeError::Gone(_) => LakeError::Evaluation(format!(
                "the store has no plan {}: store it in the cloud (PUT /v1/plans), whose answer has its name",
                hex::encode(id)
            )),
            error => error,
        })
    }
}
