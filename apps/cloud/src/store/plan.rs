//! Plans, named by the digest of their frame.

use rusqlite::{OptionalExtension as _, params};
use sotto_program::Plan;

use super::{Folder, Store, StoreError, now};

impl Store {
    pub(crate) fn keep_plan(&self, id: &[u8; 32], plan: &Plan, frame: &[u8]) -> Result<(), StoreError> {
        if self.has_plan(id)? {
            return Ok(());
        }
        // The same plan twice at the same time writes the same file twice, which does no harm.
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
        let plan = sotto_wire::read_plan(&frame).map_err(|error| StoreError::Damaged(error.to_string()))?;
        Ok(Some(plan))
    }
}
