//! Questions as values of this test. Nothing here is the product's.

/// The position of a channel or a device in the house.
pub(crate) type Position = usize;

#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// True for `top`, and the number of devices.
    pub(crate) ranking: Option<(bool, usize)>,
    pub(crate) select: Vec<Selected>,
    pub(crate) period: Period,
    pub(crate) by: Option<By>,
    pub(crate) rows: Rows,
    pub(crate) conditions: Where,
}

#[derive(Clone, Debug)]
pub(crate) struct Selected {
    pub(crate) of: Expression,
    pub(crate) unit: Option<&'static str>,
    pub(crate) name: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum Expression {
    Number(f64),
    Call(Call, Option<Scope>),
    Offset(Call, Option<Scope>, Earlier),
    Along(Along, Call, Option<Scope>),
    Tariff(Call, Option<Scope>),
    Negate(Box<Self>),
    /// One of `+ - * /` between two.
    Two(char, Box<Self>, Box<Self>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Along {
    Cumulative,
    Difference,
    Rate,
    Alpha(f64),
    HalfLife(u32),
}

/// An earlier group: so many of a unit, or the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Earlier {
    Time(i64, &'static str),
    Previous,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Device(Position),
    Tag(&'static str),
    All,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Call {
    /// A function of one channel.
    Of(&'static str, Position),
    /// `count`, `time`, `share`, `longest`, `episodes`.
    Where(&'static str, Condition),
    /// `degree_days` and `degree_hours`; true for `below`.
    Degrees(&'static str, Position, bool, f64),
    /// `covariance`, `correlation`, and `regression(second ~ first)`.
    Two(&'static str, Position, Position),
    /// The same of two devices: a channel and a device each.
    TwoOf(&'static str, [(Position, Position); 2]),
    Weights(Position, Vec<f64>),
    HalfLife(Position, u32),
    MovingAverage(Position, usize),
    Quantile(Position, f64),
    /// `min` and `max` of a difference.
    Difference(&'static str, Position, Position),
    Bins(Position, usize),
    Edges(Position, Vec<f64>),
    Interpolate(Position, Option<i64>),
    Spectrum(Position, usize),
    /// `sum` and `mean` of a polynomial.
    Polynomial(&'static str, Position, Vec<f64>),
}

/// A condition: the channel between two limits, each with true if it may be equal, or equal to a number or a state.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Condition {
    Side(Position, &'static str, f64),
    Between(Position, (f64, bool), (f64, bool)),
    State(Position, bool, bool),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Period {
    All,
    Over(i64, &'static str),
    During(&'static str),
    Between(Option<&'static str>, Option<&'static str>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Window,
    /// Parts of a day, in minutes.
    Minutes(i64),
    Hour,
    Day,
    Week,
    Month,
    MonthFrom(i8),
    Quarter,
    Year,
    Recurring(Cycle, Option<Cycle>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cycle {
    Hour,
    Weekday,
    Month,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    Across,
    Device,
    Tag,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Where {
    pub(crate) devices: Vec<Position>,
    pub(crate) tags: Vec<&'static str>,
    /// Minutes after midnight.
    pub(crate) time: Option<(i64, i64)>,
    /// From Monday, 0.
    pub(crate) weekdays: Vec<i8>,
    pub(crate) months: Vec<i8>,
    pub(crate) dates: Option<Dates>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dates {
    pub(crate) not: bool,
    /// True for the file of holidays, else the list.
    pub(crate) file: bool,
}

impl Call {
    /// Returns the channels, in the order of the text.
    pub(crate) fn channels(&self) -> Vec<Position> {
        match self {
            Self::Of(_, x) | Self::Degrees(_, x, ..) | Self::Weights(x, _) | Self::HalfLife(x, _) => vec![*x],
            Self::MovingAverage(x, _) | Self::Quantile(x, _) | Self::Bins(x, _) | Self::Edges(x, _) => {
                vec![*x]
            }
            Self::Interpolate(x, _) | Self::Spectrum(x, _) | Self::Polynomial(_, x, _) => vec![*x],
            Self::Where(_, condition) => vec![condition.channel()],
            Self::Two(_, x, y) | Self::Difference(_, x, y) => vec![*x, *y],
            Self::TwoOf(_, [x, y]) => vec![x.0, y.0],
        }
    }

    /// Returns true if it has several values.
    pub(crate) fn is_vector(&self) -> bool {
        matches!(self, Self::Two("regression", ..) | Self::TwoOf("regression", _))
            || matches!(self, Self::Bins(..) | Self::Edges(..) | Self::Interpolate(..) | Self::Spectrum(..))
    }
}

impl Condition {
    pub(crate) fn channel(&self) -> Position {
        match self {
            Self::Side(x, ..) | Self::Between(x, ..) | Self::State(x, ..) => *x,
        }
    }
}

impl Expression {
    /// Returns all calls with the devices that they name, in the order of the text.
    pub(crate) fn calls(&self) -> Vec<(&Call, Option<Scope>)> {
        match self {
            Self::Number(_) => Vec::new(),
            Self::Call(call, of) | Self::Offset(call, of, _) => vec![(call, *of)],
            Self::Along(_, call, of) | Self::Tariff(call, of) => vec![(call, *of)],
            Self::Negate(of) => of.calls(),
            Self::Two(_, left, right) => [left.calls(), right.calls()].concat(),
        }
    }
}

impl Question {
    pub(crate) fn calls(&self) -> Vec<(&Call, Option<Scope>)> {
        self.select.iter().flat_map(|selected| selected.of.calls()).collect()
    }
}
