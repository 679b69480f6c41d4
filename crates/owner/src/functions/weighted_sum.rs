//! `weighted_sum(x, [w0, w1])`, `weighted_sum(x, half_life 6h)`: the sum of weight · reading. The readings that are there
//! share the weights of the missing ones of their sign.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::arguments::{About, Arguments};
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Gathered, Need};
use crate::language::{Measurand, Name, Numbers, Parsed, Parser, QuestionErrorKind as Kind, Weights, limits};
use crate::units::Scale;

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "weighted_sum", arguments: "x, [1, 2]" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| {
        let channel = parser.channel()?;
        let comma = "',' and weights, as in weighted_sum(x, [1, 2]) or weighted_sum(x, half_life 6h)";
        parser.expect(',', comma)?;
        let weights = weights(parser)?;
        parser.close()?;
        Ok(WeightedSum(Weighting { channel, weights }).into())
    },
};

/// Reads a list of weights or a half-life.
fn weights(parser: &mut Parser<'_>) -> Parsed<Weights> {
    if parser.accept_word("half_life")? {
        return Ok(Weights::HalfLife(parser.duration()?));
    }
    if !parser.at('[')? {
        return Err(parser.expected("weights in brackets, as in [1, 2, 3], or half_life 6h"));
    }
    let at = parser.start();
    let weights = parser.numbers(limits::WEIGHTS, "weights")?;
    if weights.iter().all(|weight| *weight == 0.0) {
        return Err(parser.error(Kind::ZeroWeights, at));
    }
    Ok(Weights::Each(weights))
}

/// `weighted_sum(x, [w0, w1])` or `weighted_sum(x, half_life 6h)`.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WeightedSum(pub(super) Weighting);

/// A channel and the weights of its readings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Weighting {
    channel: String,
    weights: Weights,
}

impl Call {
    /// Returns the call `weighted_sum(x, [w0, w1])`, or one with a half-life if `weights` is a
    /// [`Duration`](crate::question::Duration).
    #[must_use]
    pub fn weighted_sum(channel: impl Into<String>, weights: impl Into<Weights>) -> Self {
        WeightedSum(Weighting { channel: channel.into(), weights: weights.into() }).into()
    }
}

impl Display for Weighting {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let channel = Name(&self.channel);
        match &self.weights {
            Weights::Each(weights) => write!(out, "{channel}, {}", Numbers(weights)),
            Weights::HalfLife(time) => write!(out, "{channel}, half_life {time}"),
        }
    }
}

impl Arguments for Weighting {
    fn about(&self) -> About<'_> {
        About::Channels(vec![&self.channel])
    }

    fn reading_mut(&mut self) -> Option<&mut Measurand> {
        None
    }
}

impl Function for WeightedSum {
    fn name(&self) -> &'static str {
        "weighted_sum"
    }

    fn cannot_work(&self, of: &Circumstances<'_>) -> Option<String> {
        let Weights::Each(weights) = &self.0.weights else { return None };
        let ticks = of.ticks(&self.0.channel)?;
        (weights.len() as u64 > ticks).then(|| {
            format!(
                "{} weights are more than the readings of {} in a group, {ticks} at most: give fewer weights, or ask for a longer time",
                weights.len(),
                self.0.channel
            )
        })
    }

    fn needs(&self) -> Vec<Need> {
        let Weighting { channel, weights } = self.0.clone();
        vec![Need::Weighted { channel, weights }]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Value
    }
}

impl OneValue for WeightedSum {
    fn unit(&self, channels: &dyn Channels) -> String {
        channels.unit(&self.0.channel)
    }

    fn scale(&self) -> Scale {
        match &self.0.weights {
            Weights::Each(weights) if weights.iter().sum::<f64>() == 0.0 => Scale::Difference,
            _ => Scale::Other,
        }
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        let channel = &self.0.channel;
        let weighted = from.weighted();
        Counted {
            value: weighted.value(&from.unit(channel)),
            count: weighted.count(),
            missing: from.missing(&[channel], weighted.count()),
        }
    }
}
