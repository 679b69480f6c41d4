//! Refusals of parts.

/// The reason why parts do not fit the channels of a stream.
///
/// Example: [`crate::SumsPart::check`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SumsError {
    /// A quantity names a channel that the stream lacks.
    #[error("a quantity names a column that the stream does not have")]
    Column,
    /// The columns of a product are equal, or in the wrong order.
    #[error("a product names the lower column first, and two columns")]
    Product,
    /// There are too many bins.
    #[error("a column has at most 1024 bins")]
    Bins,
    /// The edges of bins do not ascend.
    #[error("the edges of bins ascend")]
    Edges,
    /// The exponent of a power is not possible.
    #[error("the exponent of a power is 1 to 4")]
    Exponent,
    /// A quantity of a tick comes before one of the window.
    #[error("quantities that a window has once come before those of ticks")]
    Order,
    /// There are more reasons than this version knows.
    #[error("a part counts readings left out for reasons that are not known here")]
    Reasons,
    /// A place has too few bits for all values of its quantity, or not 1 to 60.
    #[error(
        "the bits of a place, 1 to 60, do not tell all values of its quantity apart: widen it, or split the quantity in two"
    )]
    Range,
    /// The number of parts is not possible.
    #[error("a window of sums has 1 to 16 parts")]
    Parts,
    /// The number of ticks is not possible.
    #[error("a window of sums has 1 to 65535 ticks")]
    Ticks,
}
