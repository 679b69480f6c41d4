//! Parameters.

use rusqlite::{OptionalExtension as _, params};
use sotto_rlwe::{ParameterId, SchemeId};

use super::{Store, StoreError, now};

impl Store {
    /// Stores parameters unless they are already stored.
    pub(crate) fn keep_parameters(
        &self,
        id: ParameterId,
        scheme: SchemeId,
        frame: &[u8],
    ) -> Result<(), StoreError> {
        let insert = "INSERT INTO parameters (id, scheme, frame, stored_at) VALUES (?1, ?2, ?3, ?4)
                      ON CONFLICT DO NOTHING";
        self.connection().prepare_cached(insert)?.execute(params![id.0, scheme.name(), frame, now()])?;
        Ok(())
    }

    /// Returns the frame of the parameters with this id.
    pub(crate) fn parameters(&self, id: ParameterId) -> Result<Option<Vec<u8>>, StoreError> {
        let connection = self.connection();
        let mut query = connection.prepare_cached("SELECT frame FROM parameters WHERE id = ?1")?;
        Ok(query.query_row([id.0], |row| row.get(0)).optional()?)
    }
}
