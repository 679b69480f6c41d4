//! The positions of the requested columns in a file.

use std::path::Path;

use super::columns::{Column, Wanted};
use super::names::{Found, find, position};
use super::time_columns::TimePlaces;
use crate::source::SourceError;

/// Positions of the requested columns.
#[derive(Clone, Debug, Default)]
pub(in crate::source) struct Places {
    pub(in crate::source) time: TimePlaces,
    pub(in crate::source) values: Vec<usize>,
    pub(in crate::source) conditions: Vec<(usize, String)>,
    /// For each channel, the conditions under which a row is about it; empty if no channel has any.
    pub(in crate::source) about: Vec<Vec<(usize, String)>>,
    /// Names of all columns of the file.
    pub(in crate::source) names: Vec<String>,
}

impl Places {
    /// Finds the requested columns among the names.
    ///
    /// # Errors
    /// [`SourceError::NoColumn`], [`SourceError::AmbiguousColumn`] and [`SourceError::NoTimeColumn`].
    pub(in crate::source) fn find(
        names: &[String],
        wanted: &Wanted,
        path: &Path,
    ) -> Result<Self, SourceError> {
        let (mut values, mut about) = (Vec::new(), Vec::new());
        for column in &wanted.values {
            let (place, conditions) = wanted.place(column, names, path)?;
            values.push(place);
            about.push(conditions);
        }
        if about.iter().all(Vec::is_empty) {
            about.clear();
        }
        let condition =
            |(name, text): &(String, String)| Ok((wanted.position(names, name, None, path)?, text.clone()));
        let conditions = wanted.conditions.iter().map(condition).collect::<Result<_, SourceError>>()?;
        let time = match &wanted.time {
            None => TimePlaces::default(),
            Some(time) => time.find(names, path)?,
        };
        Ok(Self { time, values, conditions, about, names: names.to_vec() })
    }
}

#[cfg(feature = "tables")]
impl Places {
    /// Returns all positions.
    pub(in crate::source) fn all(&mut self) -> impl Iterator<Item = &mut usize> {
        let about = self.about.iter_mut().flatten().map(|(place, _)| place);
        let conditions = self.conditions.iter_mut().map(|(place, _)| place);
        self.time.0.iter_mut().chain(&mut self.values).chain(conditions).chain(about)
    }
}

impl Wanted {
    /// Returns the position of a channel's column and the positions of its conditions.
    fn place(
        &self,
        column: &Column,
        names: &[String],
        path: &Path,
    ) -> Result<(usize, Vec<(usize, String)>), SourceError> {
        let whole = self.position(names, &column.requested, Some(&column.channel), path);
        let error = match whole {
            Ok(position) => return Ok((position, Vec::new())),
            Err(error) => error,
        };
        if let Some((name, conditions)) = column.parts() {
            let position = self.position(names, name, Some(&column.channel), path)?;
            let find =
                |(name, text): (&str, &str)| Ok((self.position(names, name, None, path)?, text.to_owned()));
            return Ok((position, conditions.into_iter().map(find).collect::<Result<_, SourceError>>()?));
        }
        // Tables of InfluxDB name the series in a column of their own.
        let is_influx = |name: &str| matches!(find(names, name), Found::One(_));
        if is_influx("_value") && is_influx("_field") {
            let position = self.position(names, "_value", None, path)?;
            let field = self.position(names, "_field", None, path)?;
            return Ok((position, vec![(field, column.requested.clone())]));
        }
        Err(error)
    }

    /// Returns the position of a column. No column of another channel is proposed.
    ///
    /// # Errors
    /// [`SourceError::NoColumn`] and [`SourceError::AmbiguousColumn`].
    fn position(
        &self,
        names: &[String],
        wanted: &str,
        channel: Option<&str>,
        path: &Path,
    ) -> Result<usize, SourceError> {
        let of_others: Vec<&str> = self
            .values
            .iter()
            .filter(|column| channel != Some(&*column.channel))
            .flat_map(|column| [&*column.requested, column.parts().map_or("", |(name, _)| name)])
            .collect();
        position(names, wanted, &of_others, path)
    }
}
