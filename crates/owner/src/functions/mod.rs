//! The functions of the question language.
//!
//! A function is one file: its grammar, the intermediate results that it needs, its values and their units. Only the
//! list below names it; other code asks the function for its arguments, its needs and its results.

mod arguments;
mod circumstances;
mod function;
mod powers;

mod changes;
mod correlation;
mod count;
mod covariance;
mod coverage;
mod crest;
mod degree_days;
mod degree_hours;
mod difference;
mod direction;
mod energy;
mod episodes;
mod first;
mod histogram;
mod increase;
mod interpolate;
mod kurtosis;
mod last;
mod longest;
mod max;
mod mean;
mod min;
mod moving_average;
mod of_devices;
mod quantile;
mod range;
mod regression;
mod rms;
mod share;
mod side;
mod skewness;
mod spectrum;
mod stddev;
mod sum;
mod time;
mod time_of_max;
mod time_of_min;
mod values;
mod variance;
mod weighted_sum;

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

pub use histogram::Bins;
pub use side::Side;

pub(crate) use arguments::{About, Arguments};
pub(crate) use circumstances::Circumstances;
pub(crate) use function::{AddsUp, Function, Gaps, InAlarm, Named, Part, Syntax, Time, Yields};

use crate::gathered::Need;
use crate::language::{Condition, LinearModel, Measurand, OfDevice};

/// Makes a call of the functions of these files. Each file has the syntax, and a type for each form of the function, with
/// its arguments.
macro_rules! functions {
    ($($file:ident: $($form:ident),+;)+) => {
        $(pub use $file::{$($form),+};)+

        /// One statistic: a function with its arguments.
        ///
        /// ```
        /// use sotto_owner::question::{Call, Question};
        ///
        /// let question = Question::parse("regression(power ~ speed), mean(speed)")?;
        /// let calls: Vec<&Call> = question.calls().collect();
        /// assert_eq!(calls, [&Call::regression("power", "speed"), &Call::mean("speed")]);
        /// assert!(calls[0].is_vector(), "slope and intercept");
        /// # Ok::<(), sotto_owner::question::QuestionError>(())
        /// ```
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Call {
            $($(#[doc = concat!("A call of [`", stringify!($form), "`].")] $form($form),)+)+
        }

        /// The syntax of every function, in the order in which errors list them.
        const ALL: &[&Syntax] = &[$(&$file::SYNTAX),+];

        impl Call {
            pub(crate) fn of(&self) -> &dyn Function {
                match self {
                    $($(Self::$form(of) => of,)+)+
                }
            }

            /// Returns the function's grammar.
            pub(crate) fn syntax(&self) -> &'static Syntax {
                match self {
                    $($(Self::$form(_) => &$file::SYNTAX,)+)+
                }
            }

            fn arguments(&self) -> &dyn Arguments {
                match self {
                    $($(Self::$form($form(arguments)) => arguments,)+)+
                }
            }

            fn arguments_mut(&mut self) -> &mut dyn Arguments {
                match self {
                    $($(Self::$form($form(arguments)) => arguments,)+)+
                }
            }
        }

        $($(
            impl From<$form> for Call {
                fn from(of: $form) -> Self {
                    Self::$form(of)
                }
            }
        )+)+
    };
}

functions! {
    count: Count, CountWhere;
    coverage: Coverage;
    sum: Sum;
    mean: Mean;
    variance: Variance;
    stddev: Stddev;
    rms: Rms;
    crest: Crest;
    skewness: Skewness;
    kurtosis: Kurtosis;
    energy: Energy;
    degree_days: DegreeDays;
    covariance: Covariance, CovarianceOf;
    correlation: Correlation, CorrelationOf;
    regression: Regression, RegressionOf;
    weighted_sum: WeightedSum;
    moving_average: MovingAverage;
    min: Min, MinDifference;
    max: Max, MaxDifference;
    range: Range;
    quantile: Quantile;
    histogram: Histogram;
    time: TimeWhere;
    share: Share;
    increase: Increase;
    changes: Changes;
    direction: Direction;
    first: First;
    last: Last;
    time_of_max: TimeOfMax;
    time_of_min: TimeOfMin;
    longest: Longest;
    episodes: Episodes;
    degree_hours: DegreeHours;
    interpolate: Interpolate;
    spectrum: Spectrum;
    values: Values;
}

/// A word that names a function.
pub(crate) struct Known {
    pub(crate) syntax: &'static Syntax,
    /// The name in canonical text.
    pub(crate) named: &'static Named,
}

/// Returns the function that a word names; None if there is none.
pub(crate) fn named(word: &str) -> Option<Known> {
    let of = |syntax: &'static Syntax| {
        let named = syntax.names.iter().find(|named| named.word == word);
        let named = named.or_else(|| syntax.names.first().filter(|_| syntax.synonyms.contains(&word)));
        named.map(|named| Known { syntax, named })
    };
    ALL.iter().copied().find_map(of)
}

/// A function of the language.
///
/// Example: [`functions`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionName {
    /// Its name.
    pub word: &'static str,
    /// Its arguments, as an example.
    pub arguments: &'static str,
    /// Other words for it.
    pub synonyms: &'static [&'static str],
    /// True if it needs a `by` clause.
    pub across_groups: bool,
}

/// Iterates over the functions of the language, in the order in which errors list them.
///
/// ```
/// use sotto_owner::question::functions;
///
/// let quantile = functions().find(|function| function.word == "quantile").expect("a function");
/// assert_eq!(quantile.arguments, "x, 0.95");
/// assert!(functions().any(|function| function.synonyms.contains(&"avg")));
/// ```
pub fn functions() -> impl Iterator<Item = FunctionName> {
    ALL.iter().flat_map(|syntax| {
        let Syntax { names, synonyms, across_groups, .. } = *syntax;
        (0..).zip(*names).map(move |(at, Named { word, arguments })| FunctionName {
            word,
            arguments,
            synonyms: if at == 0 { synonyms } else { &[] },
            across_groups: *across_groups,
        })
    })
}

/// Returns the names of all functions.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().flat_map(|syntax| syntax.names).map(|named| named.word)
}

impl Call {
    /// Returns the name of the function, e.g. `mean`.
    #[must_use]
    pub fn function(&self) -> &'static str {
        self.of().name()
    }

    /// Returns true if the answer has several values. Such a call stands alone, outside arithmetic.
    #[must_use]
    pub fn is_vector(&self) -> bool {
        matches!(self.of().yields(), Yields::Several(_))
    }

    /// Returns the way to ask for one value of a call that has several, after a comma.
    pub(crate) fn instead(&self) -> String {
        match self.of().yields() {
            Yields::One(_) => String::new(),
            Yields::Several(several) => several.instead(),
        }
    }

    /// Returns the channels in the order of the text.
    #[must_use]
    pub fn channels(&self) -> Vec<&str> {
        match self.arguments().about() {
            About::Channels(channels) => channels,
            About::OfDevices(two) => two.map(|of| of.channel.as_str()).to_vec(),
            About::Reading(reading) | About::Condition(Condition { reading, .. }) => reading.channels(),
        }
    }

    /// Returns the channels of devices that the call names, in the order of the text; empty if it names no device.
    pub(crate) fn two_devices(&self) -> Vec<&OfDevice> {
        match self.arguments().about() {
            About::OfDevices(two) => two.to_vec(),
            About::Channels(_) | About::Reading(_) | About::Condition(_) => Vec::new(),
        }
    }

    /// Returns the reading of a call that takes more than channels, and the one that a condition compares; None for other
    /// calls.
    #[must_use]
    pub fn reading(&self) -> Option<&Measurand> {
        match self.arguments().about() {
            About::Channels(_) | About::OfDevices(_) => None,
            About::Reading(reading) | About::Condition(Condition { reading, .. }) => Some(reading),
        }
    }

    /// Returns true if the call is computed from the readings themselves, which come down window by window.
    ///
    /// ```
    /// use sotto_owner::question::Call;
    ///
    /// assert!(Call::last("temperature").is_of_readings());
    /// assert!(!Call::mean("temperature").is_of_readings());
    /// ```
    #[must_use]
    pub fn is_of_readings(&self) -> bool {
        self.needs().iter().any(|need| matches!(need, Need::Readings { .. }))
    }

    /// Returns true if readings come down for it where windows hold neither extremes nor bins for it.
    pub(crate) fn may_compare(&self) -> bool {
        self.needs().iter().any(Need::is_of_windows)
    }

    /// Returns the condition of `count`, `time` and `share`.
    #[must_use]
    pub fn condition(&self) -> Option<&Condition> {
        match self.arguments().about() {
            About::Condition(condition) => Some(condition),
            About::Channels(_) | About::OfDevices(_) | About::Reading(_) => None,
        }
    }

    /// Returns true if the cloud can compare the call's values with its limit: a condition on a polynomial or a model.
    pub(crate) fn can_compare_in_cloud(&self) -> bool {
        self.condition().is_some_and(|condition| !matches!(condition.reading, Measurand::Channel(_)))
    }

    /// Returns why the call cannot work, whatever the readings are; None if it may.
    pub(crate) fn cannot_work(&self, circumstances: &Circumstances<'_>) -> Option<String> {
        self.of().cannot_work(circumstances)
    }

    /// Returns the smallest and the largest value that the call may have in a window with readings; None if they are not known.
    pub(crate) fn between(&self, circumstances: &Circumstances<'_>) -> Option<(f64, f64)> {
        self.of().between(circumstances)
    }

    /// Returns true if the call makes sense of a channel of this kind.
    pub(crate) fn fits(&self, kind: &sotto_pack::ChannelKind) -> bool {
        self.of().fits(kind)
    }

    /// Returns the intermediate results that the call is computed from.
    pub(crate) fn needs(&self) -> Vec<Need> {
        self.of().needs()
    }

    /// Returns the condition of `count`, `time` and `share`, to change it.
    pub(crate) fn condition_mut(&mut self) -> Option<&mut Condition> {
        self.arguments_mut().condition_mut()
    }

    /// Returns the file and the model of a linear model.
    pub(crate) fn model_slot(&mut self) -> Option<(&str, &mut Option<LinearModel>)> {
        match self.arguments_mut().reading_mut()? {
            Measurand::Linear { file, model } => Some((file, model)),
            Measurand::Channel(_) | Measurand::Polynomial { .. } => None,
        }
    }
}

impl Display for Call {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.of().write(self.arguments(), out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_names_one_function_and_every_function_has_a_row_in_the_page() {
        let page = include_str!("../../../../docs/concepts/questions.md");
        let mut words: Vec<&str> = ALL.iter().flat_map(|syntax| syntax.synonyms).copied().collect();
        for name in names() {
            let arguments = named(name).expect("a function").named.arguments;
            assert!(page.contains(&format!("`{name}(")), "{name}({arguments}) has no row");
            words.push(name);
        }
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), count, "a word names two functions");
    }
}
