//! Limits a source to its first rows.

use super::{Around, Row, Source, SourceError};

/// A source that ends after the first `left` rows of another.
struct First {
    source: Box<dyn Source>,
    rows: u64,
    left: u64,
}

/// Returns a source that ends after the first `rows` rows of `source`.
#[must_use]
pub fn first(source: Box<dyn Source>, rows: u64) -> Box<dyn Source> {
    Box::new(First { source, rows, left: rows })
}

impl Around for First {
    fn inner(&self) -> &dyn Source {
        &*self.source
    }

    fn inner_mut(&mut self) -> &mut dyn Source {
        &mut *self.source
    }

    fn next_row(&mut self) -> Result<Row, SourceError> {
        let left = self.left.checked_sub(1).ok_or(SourceError::Ended)?;
        let row = self.source.next_row()?;
        self.left = left;
        Ok(row)
    }

    fn restart(&mut self) -> Result<(), SourceError> {
        self.left = self.rows;
        self.source.restart()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Generator;
    use sotto_pack::Period;

    #[test]
    fn it_ends_after_so_many_rows() {
        let (mut all, mut some) = (
            Generator::new(3, Period::from_milliseconds(1000)),
            first(Box::new(Generator::new(3, Period::from_milliseconds(1000))), 2),
        );
        assert_eq!((some.channels(), some.paced()), (all.channels(), all.paced()));
        for _ in 0..2 {
            assert_eq!(some.next_row().unwrap(), all.next_row().unwrap());
        }
        for _ in 0..2 {
            assert!(matches!(some.next_row(), Err(SourceError::Ended)));
        }
        some.restart().unwrap();
        assert_eq!(
            some.next_row().unwrap(),
            Generator::new(3, Period::from_milliseconds(1000)).next_row().unwrap()
        );
    }
}
