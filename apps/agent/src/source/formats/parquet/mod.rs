//! Parquet: columns in row groups. Nested columns have the names of their groups before them, as in `air.temperature`.

mod columns;
mod footer;
mod packed;
mod pages;

use std::path::PathBuf;
use std::sync::Arc;

use parquet::file::metadata::ParquetMetaData;

use super::magic::PARQUET;
use super::typed::{Chosen, Table, Typed, Value, refuse_lines, unharmed};
use super::{Format, Opening, Rows};
use crate::source::SourceError;
use crate::source::files::input::{Input, refused};
use columns::Column;
use pages::{Pages, Shared};

/// The last bytes of a file.
const MAGIC: &[u8] = b"PAR1";
/// Rows read at once.
const PIECE: u64 = 8192;

/// Columns in row groups.
pub(super) struct Parquet;

impl Format for Parquet {
    fn name(&self) -> &'static str {
        PARQUET.name
    }

    fn sniff(&self, begin: &[u8]) -> Option<bool> {
        PARQUET.fits(begin)
    }

    fn open(&self, input: Input, opening: &Opening<'_>) -> Result<Option<Box<dyn Rows>>, SourceError> {
        let path = input.path.clone();
        refuse_lines(opening, &path)?;
        let mut file = input.file("a Parquet file")?;
        let directory = footer::read(&mut file).map_err(|reason| refused(&path, reason))?;
        let file = Shared::new(file).map_err(|error| refused(&path, error.to_string()))?;
        let schema = directory.file_metadata().schema_descr_ptr();
        let names: Vec<String> =
            schema.columns().iter().map(|column| column.path().parts().join(".")).collect();
        let chosen = Chosen::find(&names, opening.wanted, &path)?;
        let mut columns = Vec::new();
        for position in &chosen.columns {
            let described = schema.column(*position);
            if described.max_rep_level() > 0 {
                let reason =
                    format!("column {:?} holds lists: a row has one value of a column", names[*position]);
                return Err(refused(&path, reason));
            }
            columns.push(Column::new(described));
        }
        let positions = chosen.columns.clone();
        let file = Arc::new(file);
        let groups = Groups {
            path: path.clone(),
            file,
            directory,
            positions,
            columns,
            group: 0,
            left: 0,
            piece: 0,
            at: 0,
            row: 0,
        };
        Ok(Some(Box::new(Typed::new(groups, &path, chosen))))
    }
}

/// The rows of all row groups.
struct Groups {
    path: PathBuf,
    file: Arc<Shared>,
    directory: ParquetMetaData,
    /// The positions of the columns in the file.
    positions: Vec<usize>,
    columns: Vec<Column>,
    /// The row group to open next.
    group: usize,
    /// Rows of the open row group that are not read yet.
    left: u64,
    /// Rows read last, and how many of them were given.
    piece: usize,
    at: usize,
    row: u64,
}

impl Groups {
    /// Reads more rows. Returns false behind the last row group.
    fn more(&mut self) -> Result<bool, String> {
        while self.left == 0 {
            let Some(group) = self.directory.row_groups().get(self.group) else { return Ok(false) };
            self.group += 1;
            self.left = u64::try_from(group.num_rows()).map_err(|_| "it is damaged: copy it again")?;
            for (column, position) in self.columns.iter_mut().zip(&self.positions) {
                let described = group.columns().get(*position).ok_or("a row group lacks a column")?;
                if described.file_path().is_some() {
                    return Err("its columns lie in other files: name those".to_owned());
                }
                let pages = Pages::new(&self.file, described, self.left as usize);
                column.open(pages.map_err(|error| words(&error))?);
            }
        }
        let rows = self.left.min(PIECE) as usize;
        for column in &mut self.columns {
            let read = column.read(rows).map_err(|error| words(&error))?;
            if read != rows {
                return Err(format!("row group {} has fewer rows than it states", self.group));
            }
        }
        (self.left, self.piece, self.at) = (self.left - rows as u64, rows, 0);
        Ok(true)
    }
}

impl Table for Groups {
    fn advance(&mut self) -> Result<Option<u64>, SourceError> {
        if self.at == self.piece {
            let more =
                unharmed(|| self.more()).unwrap_or_else(|| Err("it is damaged: copy it again".to_owned()));
            let more =
                more.map_err(|reason| refused(&self.path, format!("behind row {}: {reason}", self.row)))?;
            if !more {
                return Ok(None);
            }
        }
        for column in &mut self.columns {
            column.go_to(self.at);
        }
        (self.at, self.row) = (self.at + 1, self.row + 1);
        Ok(Some(self.row))
    }

    fn value(&self, position: usize) -> Value<'_> {
        self.columns.get(position).map_or(Value::Empty, Column::value)
    }
}

/// Returns an error of the crate in the words of this one.
fn words(error: &parquet::errors::ParquetError) -> String {
    match error {
        parquet::errors::ParquetError::General(reason) => reason.clone(),
        other => other.to_string(),
    }
}
