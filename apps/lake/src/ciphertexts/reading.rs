//! The part of a plan that makes rows of ciphertexts.

use serde::{Deserialize, Serialize};

use super::columns::schema;
use crate::LakeError;
use crate::store::Row;

/// The ciphertexts of a query, divided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reading {
    pub(super) streams: Vec<(String, String)>,
    pub(super) settings: Vec<String>,
    pub(super) headers: Vec<String>,
    /// The columns, by their numbers in the table.
    pub(super) projection: Vec<usize>,
    /// For each task, for each of its partitions.
    pub(super) tasks: Vec<Vec<Vec<Row>>>,
}

impl Reading {
    /// Refuses a plan that names columns which the table does not have.
    pub(crate) fn check(&self) -> Result<(), LakeError> {
        let columns = schema().fields().len();
        match self.projection.iter().any(|column| *column >= columns) {
            true => Err(LakeError::Plan("it reads a column that the table does not have".to_owned())),
            false => Ok(()),
        }
    }
}
