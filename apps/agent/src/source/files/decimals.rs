//! The decimal mark of a file, decided by its numbers.

use super::cells::Cell;
use super::columns::Column;
use super::decimal::{Decimal, Marks, whole};
use super::numbers::Mark;

/// A number, for error messages: its line and its two readings.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Example {
    pub(super) line: u64,
    /// The number if its mark is a decimal one.
    pub(super) fraction: f64,
    /// The number if its mark separates thousands.
    pub(super) whole: f64,
    /// The mark.
    pub(super) mark: char,
}

/// The decimal marks that the numbers of a file show.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    /// A number whose decimals have a point, by itself.
    point: bool,
    comma: bool,
    /// A number with several groups of thousands.
    grouped_point: bool,
    grouped_comma: bool,
    /// The first number with two readings that its channel could both have.
    both: Option<Example>,
    /// The first number with two readings of which only the fraction is in its channel's range.
    fraction_point: bool,
    fraction_comma: bool,
}

/// A decision about the decimal mark.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Decided {
    /// The mark.
    Mark(Decimal),
    /// No number shows it, and none needs it so far.
    Open,
    /// This number has two readings.
    Ask(Example),
    /// Some numbers have a point, others a comma.
    Contrary,
}

impl Evidence {
    /// Takes a cell of a column into account.
    pub(super) fn look(&mut self, line: u64, cell: Cell, column: &Column, marks: Marks) {
        let Cell::Number(number, mark) = cell else { return };
        match mark {
            Mark::Plain => {}
            Mark::Point => self.point = true,
            Mark::Comma => self.comma = true,
            Mark::GroupedPoint => self.grouped_point = true,
            Mark::GroupedComma => self.grouped_comma = true,
            Mark::EitherPoint | Mark::EitherComma => {
                let (is_point, whole) = (mark == Mark::EitherPoint, whole(number));
                // Between commas a point is the decimal mark, unless the channel counts in larger steps.
                let usual = is_point && marks != Marks::Free && !column.is_finer_than_step(number);
                match (column.may_be(number), column.may_be(whole)) {
                    (true, true) if !usual && self.both.is_none() => {
                        let mark = if is_point { '.' } else { ',' };
                        self.both = Some(Example { line, fraction: number, whole, mark });
                    }
                    (true, _) if is_point => self.fraction_point = true,
                    (true, false) => self.fraction_comma = true,
                    _ => {}
                }
            }
        }
    }

    /// Returns true if more numbers cannot change the decision.
    pub(super) fn is_settled(&self) -> bool {
        self.point || self.comma
    }

    /// Returns true if no number has a mark.
    pub(super) fn is_empty(&self) -> bool {
        let grouped = self.grouped_point || self.grouped_comma;
        let either = self.both.is_some() || self.fraction_point || self.fraction_comma;
        !(self.is_settled() || grouped || either)
    }

    /// Decides by all numbers seen.
    pub(super) fn decide(&self, marks: Marks) -> Decided {
        let by = |point: bool, comma: bool| match (point, comma) {
            (true, true) if marks != Marks::Free => Some(Decided::Mark(Decimal::Point)),
            (true, true) => Some(Decided::Contrary),
            (true, false) => Some(Decided::Mark(Decimal::Point)),
            (false, true) => Some(Decided::Mark(Decimal::Comma)),
            (false, false) => None,
        };
        let sure = by(self.point, self.comma).or_else(|| by(self.grouped_comma, self.grouped_point));
        sure.or_else(|| self.both.clone().map(Decided::Ask))
            .or_else(|| by(self.fraction_point, self.fraction_comma))
            .unwrap_or(Decided::Open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(cells: &[&str], range: (f64, f64), resolution: Option<f64>, marks: Marks) -> Decided {
        let mut column = Column::default();
        (column.minimum, column.maximum, column.resolution) = (range.0, range.1, resolution);
        let mut evidence = Evidence::default();
        for (line, text) in cells.iter().enumerate() {
            evidence.look(line as u64 + 1, Cell::read(text), &column, marks);
        }
        evidence.decide(marks)
    }

    #[test]
    fn other_numbers_of_the_file_decide() {
        let free = |cells: &[&str]| decided(cells, (0.0, 100_000.0), Some(1.0), Marks::Free);
        let (point, comma) = (Decided::Mark(Decimal::Point), Decided::Mark(Decimal::Comma));
        assert_eq!(free(&["998", "1"]), Decided::Open);
        let Decided::Ask(example) = free(&["998", "1.002", "1.003"]) else { panic!("no question") };
        assert_eq!((example.line, example.fraction, example.whole, example.mark), (2, 1.002, 1002.0, '.'));
        assert!(matches!(free(&["1,002"]), Decided::Ask(Example { mark: ',', .. })));
        assert_eq!(free(&["1.002", "1.002,5"]), comma);
        assert_eq!(free(&["1.002", "7,5"]), comma);
        assert_eq!(free(&["1.002", "1.234.567"]), comma);
        assert_eq!(free(&["1.002", "0.125"]), point);
        assert_eq!(free(&["1,002", "7.5"]), point);
        assert_eq!(free(&["1,002", "1,234,567"]), point);
        assert_eq!(free(&["7,5", "7.5"]), Decided::Contrary);
        assert_eq!(free(&["7,5", "1,234,567"]), comma, "groups alone do not contradict");
    }

    #[test]
    fn a_reading_out_of_range_is_none() {
        let point = Decided::Mark(Decimal::Point);
        assert_eq!(decided(&["21.125", "20.250"], (-40.0, 100.0), None, Marks::Free), point);
        assert_eq!(decided(&["21,125"], (-40.0, 100.0), None, Marks::Free), Decided::Mark(Decimal::Comma));
        let both = decided(&["21.125", "1.002"], (0.0, 5000.0), None, Marks::Free);
        assert!(matches!(both, Decided::Ask(_)), "{both:?}");
    }

    #[test]
    fn between_commas_a_point_is_the_decimal_mark_unless_the_step_is_larger() {
        let range = (0.0, 100_000.0);
        let comma = |cells: &[&str], resolution| decided(cells, range, resolution, Marks::CommaBetween);
        assert_eq!(comma(&["1.002"], Some(0.001)), Decided::Mark(Decimal::Point));
        assert_eq!(comma(&["1.002"], None), Decided::Mark(Decimal::Point));
        assert_eq!(comma(&["1.002"], Some(0.1)), Decided::Mark(Decimal::Point));
        assert!(matches!(comma(&["1.002"], Some(1.0)), Decided::Ask(_)));
        assert!(matches!(comma(&["1,002"], Some(0.001)), Decided::Ask(_)));
        assert_eq!(comma(&["7,5", "7.5"], None), Decided::Mark(Decimal::Point));
        assert_eq!(comma(&["7,5"], None), Decided::Mark(Decimal::Comma));
    }
}
