//! `histogram(x, 16)`, `histogram(x, [0, 50, 100])`: the number of readings in each bin.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::arguments::{About, Arguments};
use super::function::{Function, InAlarm, Named, Part, SeveralValues, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::distribution::equal_edges;
use crate::gathered::{BinsNeeded, Counted, Gathered, Need};
use crate::language::{Measurand, Name, Numbers, Parsed, Parser, QuestionErrorKind as Kind, limits};

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "histogram", arguments: "x, 16" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| {
        let channel = parser.channel()?;
        parser.expect(',', "',' and a number of bins or their edges, as in histogram(x, 16)")?;
        let bins = bins(parser)?;
        parser.close()?;
        Ok(Histogram(Binned { channel, bins }).into())
    },
};

/// Reads a number of bins or their edges.
fn bins(parser: &mut Parser<'_>) -> Parsed<Bins> {
    if !parser.at('[')? {
        return parser.whole(|count| limits::BINS.contains(count), Kind::Bins).map(Bins::Equal);
    }
    let at = parser.start();
    let edges = parser.numbers(*limits::BINS.end() as usize + 1, "edges")?;
    let ascending = edges.len() >= 2 && edges.windows(2).all(|two| two[0] < two[1]);
    if ascending { Ok(Bins::Edges(edges)) } else { Err(parser.error(Kind::Edges, at)) }
}

/// `histogram(x, 16)` or `histogram(x, [0, 50, 100])`: the number of readings in each bin.
///
/// Example: [`Bins`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Histogram(pub(super) Binned);

/// A channel and bins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Binned {
    channel: String,
    bins: Bins,
}

/// The bins of a histogram.
///
/// ```
/// use sotto_owner::question::{Bins, Call, Question};
///
/// let frost = Call::histogram("temperature", vec![-20.0, 0.0, 120.0]);
/// let question = Question::select(Call::histogram("temperature", 16)).and(frost).build()?;
/// let text = "histogram(temperature, 16), histogram(temperature, [-20, 0, 120])";
/// assert_eq!(question.to_string(), text);
/// assert_eq!(Bins::from(16), Bins::Equal(16));
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bins {
    /// This many bins of equal width over the channel's declared range, in [`BINS`](limits::BINS).
    Equal(u32),
    /// The ends of the bins in ascending order. A reading at an end belongs to the bin above it, at the last end to the
    /// last bin; readings outside are in no bin.
    Edges(Vec<f64>),
}

impl From<u32> for Bins {
    fn from(bins: u32) -> Self {
        Self::Equal(bins)
    }
}

impl From<Vec<f64>> for Bins {
    fn from(edges: Vec<f64>) -> Self {
        Self::Edges(edges)
    }
}

impl Call {
    /// Returns the call `histogram(x, bins)`, of equal bins or of given edges.
    #[must_use]
    pub fn histogram(channel: impl Into<String>, bins: impl Into<Bins>) -> Self {
        Histogram(Binned { channel: channel.into(), bins: bins.into() }).into()
    }
}

impl Display for Binned {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let channel = Name(&self.channel);
        match &self.bins {
            Bins::Equal(count) => write!(out, "{channel}, {count}"),
            Bins::Edges(edges) => write!(out, "{channel}, {}", Numbers(edges)),
        }
    }
}

impl Arguments for Binned {
    fn about(&self) -> About<'_> {
        About::Channels(vec![&self.channel])
    }

    fn reading_mut(&mut self) -> Option<&mut Measurand> {
        None
    }
}

impl Function for Histogram {
    fn name(&self) -> &'static str {
        "histogram"
    }

    fn cannot_work(&self, of: &Circumstances<'_>) -> Option<String> {
        let Binned { channel, bins: Bins::Edges(edges) } = &self.0 else { return None };
        let (first, last) = edges.first().zip(edges.last())?;
        let quantiser = of.quantiser(channel)?;
        let outside = *first > quantiser.value(quantiser.top()) || *last < quantiser.value(-quantiser.top());
        outside.then(|| {
            let range = of.range_in_words(channel);
            format!("no bin has a reading of {channel}: it is declared {range}. Give edges within, or widen its range")
        })
    }

    fn needs(&self) -> Vec<Need> {
        let bins = match &self.0.bins {
            Bins::Equal(count) => BinsNeeded::Equal(*count),
            Bins::Edges(edges) => BinsNeeded::Edges(edges.clone()),
        };
        vec![Need::counts(&self.0.channel, bins)]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::Several(self)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Refused("count one bin, as in count(x > 80) >= 5")
    }
}

impl SeveralValues for Histogram {
    fn values(&self, from: &Gathered<'_>) -> Vec<Part> {
        let Binned { channel, bins } = &self.0;
        let found = from.distribution(channel);
        let missing = from.missing(&[channel], found.count());
        let shown = match bins {
            Bins::Equal(count) => {
                let (minimum, maximum) = from.channels().range(channel).unwrap_or((0.0, 1.0));
                equal_edges(minimum, maximum, *count)
            }
            Bins::Edges(edges) => edges.clone(),
        };
        let mut edges = shown.clone();
        if let (Bins::Equal(_), [first, .., last]) = (bins, &mut edges[..]) {
            // Every reading of the declared range is in a bin, rounded or not.
            (*first, *last) = (f64::NEG_INFINITY, f64::INFINITY);
        }
        let last = edges.len().saturating_sub(2);
        let mut parts = Vec::with_capacity(shown.len());
        for (at, (value, ends)) in found.histogram(&edges).into_iter().zip(shown.windows(2)).enumerate() {
            let close = if at == last { ']' } else { ')' };
            parts.push(Part {
                name: format!("[{}, {}{close}", short(ends[0]), short(ends[1])),
                counted: Counted { value: Ok(value), count: found.count(), missing },
                unit: String::new(),
                bin: Some([ends[0], ends[1]]),
                time: None,
                interpolated: false,
            });
        }
        parts
    }

    fn instead(&self) -> String {
        ", or count one bin: count(x > 80)".to_owned()
    }
}

/// Returns an end of a bin with at most nine digits, without the zeros at its end.
fn short(end: f64) -> f64 {
    format!("{end:.8e}").parse().unwrap_or(end)
}
