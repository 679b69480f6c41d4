//! True values: between two ends, with the largest bound that the documentation allows an answer.

/// A value between two ends, which an answer must enclose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Truth {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The largest documented bound; infinite where the documentation states none.
    pub(crate) most: f64,
}

/// The outcome of a result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// The values of which the answer must have one; none: it is empty.
    pub(crate) values: Vec<Truth>,
    /// True if the answer may be empty, as where a divisor may be zero.
    pub(crate) may_be_empty: bool,
}

impl Truth {
    pub(crate) const fn exact(value: f64) -> Self {
        Self { low: value, high: value, most: 0.0 }
    }

    pub(crate) const fn within(value: f64, most: f64) -> Self {
        Self { low: value, high: value, most }
    }

    pub(crate) fn scaled(self, factor: f64, add: f64) -> Self {
        let (one, other) = (self.low * factor + add, self.high * factor + add);
        Self { low: one.min(other), high: one.max(other), most: self.most * factor.abs() }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self { low: self.low + other.low, high: self.high + other.high, most: self.most + other.most }
    }

    fn times(self, other: Self) -> Self {
        let ends =
            [self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high];
        // The value of the answer may be off by its bound.
        let size = |of: Self| of.low.abs().max(of.high.abs()) + of.most;
        let most = size(self) * other.most + size(other) * self.most + self.most * other.most;
        let most = if self.most == 0.0 && other.most == 0.0 { 0.0 } else { most };
        Self::of(&ends, most)
    }

    /// Returns the quotient; None if the divisor is zero.
    fn over(self, other: Self) -> Option<Self> {
        if other.low <= 0.0 && other.high >= 0.0 {
            return None;
        }
        let least = other.low.abs().min(other.high.abs()) - 2.0 * other.most;
        let ends =
            [self.low / other.low, self.low / other.high, self.high / other.low, self.high / other.high];
        let size = self.low.abs().max(self.high.abs()) + self.most;
        let most = if least > 0.0 { (self.most + size / least * other.most) / least } else { f64::INFINITY };
        Some(Self::of(&ends, if self.most == 0.0 && other.most == 0.0 { 0.0 } else { most }))
    }

    fn of(ends: &[f64], most: f64) -> Self {
        let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
        // A product of zero and no bound.
        let most = if most.is_nan() { f64::INFINITY } else { most };
        Self { low, high: ends.iter().copied().fold(f64::NEG_INFINITY, f64::max), most }
    }
}

impl From<Truth> for Outcome {
    fn from(truth: Truth) -> Self {
        Self { values: vec![truth], may_be_empty: false }
    }
}

impl From<Option<Truth>> for Outcome {
    fn from(truth: Option<Truth>) -> Self {
        Self { values: truth.into_iter().collect(), may_be_empty: false }
    }
}

impl Outcome {
    /// Returns true if the answer has no value in any case.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the outcome without a promise of a value.
    pub(crate) fn perhaps(self, may_be_empty: bool) -> Self {
        Self { may_be_empty: self.may_be_empty || may_be_empty, ..self }
    }

    pub(crate) fn map(self, of: impl Fn(Truth) -> Truth) -> Self {
        Self { values: self.values.into_iter().map(of).collect(), ..self }
    }

    /// Returns the outcome of an operator between two.
    pub(crate) fn with(self, sign: char, other: &Self) -> Self {
        let (mut values, mut may_be_empty) = (Vec::new(), self.may_be_empty || other.may_be_empty);
        for one in &self.values {
            for other in &other.values {
                values.extend(match sign {
                    '+' => Some(one.plus(*other)),
                    '-' => Some(one.plus(other.scaled(-1.0, 0.0))),
                    '*' => Some(one.times(*other)),
                    _ => {
                        may_be_empty |= other.low.abs().min(other.high.abs()) <= 2.0 * other.most + 1e-9
                            || other.most.is_infinite();
                        one.over(*other)
                    }
                });
            }
        }
        Self { values, may_be_empty }
    }
}
