//! Plans, named by the digest of their frame.

use rusqlite::{OptionalExtension as _, params};
use sotto_program::Plan;
use sotto_wire::{DIGEST_BYTES, WireError};

use super::{Folder, Store, StoreError, now};

/// Returns true if the frame has this digest: it is the stored frame, in the present layout or an older one.
fn is_whole(frame: &[u8], id: &[u8; 32]) -> bool {
    let body = frame.len().checked_sub(DIGEST_BYTES).map(|end| blake3::hash(&frame[..end]));
    body.is_some_and(|digest| digest.as_bytes() == id)
}

impl Store {
    pub(crate) fn keep_plan(&self, id: &[u8; 32], plan: &Plan, frame: &[u8]) -> Result<(), StoreError> {
        if self.has_plan(id)? {
            return Ok(());
        }
        // If two requests store the same plan, both write the same bytes, which is harmless.
        self.bodies.write(Folder::Plans, &hex::encode(id), frame)?;
        self.connection().execute(
            "INSERT INTO plans (id, parameter_id, steps, bytes, stored_at) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO NOTHING",
            params![id, plan.parameter_id, plan.steps.len() as i64, frame.len() as i64, now()],
        )?;
        Ok(())
    }

    fn has_plan(&self, id: &[u8; 32]) -> Result<bool, StoreError> {
        let connection = self.connection();
        let mut query = connection.prepare_cached("SELECT 1 FROM plans WHERE id = ?1")?;
        Ok(query.query_row([id], |_| Ok(())).optional()?.is_some())
    }

    pub(crate) fn plan(&self, id: &[u8; 32]) -> Result<Option<Plan>, StoreError> {
        if !self.has_plan(id)? {
            return Ok(None);
        }
        let frame = self.bodies.read(Folder::Plans, &hex::encode(id))?;
        let unreadable = |error: WireError| match is_whole(&frame, id) {
            // The migration kept it for the job that names it.
            true => StoreError::Outdated(error.to_string()),
            false => StoreError::Damaged(error.to_string()),
        };
        sotto_wire::read_plan(&frame).map(Some).map_err(unreadable)
    }
}
