//! Decimal marks, and marks between groups of thousands.

/// The decimal mark of numbers. The other mark, a point or a comma, separates groups of thousands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decimal {
    /// 3.14
    Point,
    /// 3,14
    Comma,
}

impl Decimal {
    /// Returns the other mark.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Point => Self::Comma,
            Self::Comma => Self::Point,
        }
    }
}

/// How marks in the numbers of a file are meant, as far as its format tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::source) enum Marks {
    /// Nothing is known: either mark may be the decimal one.
    Free,
    /// A comma stands between columns, so most numbers have a point.
    CommaBetween,
    /// Numbers have a type; a text with a number is rare, and most have a point.
    Typed,
}

/// Returns the number that a mark between groups of thousands gives.
pub(super) fn whole(fraction: f64) -> f64 {
    (fraction * 1000.0).round()
}
