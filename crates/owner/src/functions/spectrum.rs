//! `spectrum(x, 8)`: the power of a channel's readings by band of frequency.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::Call;
use super::arguments::{About, Arguments};
use super::function::{Function, Gaps, InAlarm, Named, Part, SeveralValues, Syntax, Yields};
use crate::gathered::{Bands, Counted, Gathered, Need};
use crate::language::{Measurand, Name, QuestionErrorKind as Kind, limits};
use crate::value::{Value, squared};

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "spectrum", arguments: "x, 8" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| {
        let channel = parser.channel()?;
        parser.expect(',', "',' and a number of bands, as in spectrum(x, 8)")?;
        let bands = parser.whole(|count| limits::BANDS.contains(count), Kind::Bands)?;
        parser.close()?;
        Ok(Spectrum(InBands { channel, bands }).into())
    },
};

/// `spectrum(x, 8)`: the power of the readings in bands of frequency, each of which is twice as high as the one before.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spectrum(pub(super) InBands);

/// A channel and a number of bands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InBands {
    channel: String,
    bands: u32,
}

impl Display for InBands {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}, {}", Name(&self.channel), self.bands)
    }
}

impl Arguments for InBands {
    fn about(&self) -> About<'_> {
        About::Channels(vec![&self.channel])
    }

    fn reading_mut(&mut self) -> Option<&mut Measurand> {
        None
    }
}

impl Call {
    /// Returns the call `spectrum(x, bands)`, with 2 to 24 bands.
    #[must_use]
    pub fn spectrum(channel: impl Into<String>, bands: u32) -> Self {
        Spectrum(InBands { channel: channel.into(), bands }).into()
    }
}

impl Function for Spectrum {
    fn name(&self) -> &'static str {
        "spectrum"
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::readings(&self.0.channel)]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::Several(self)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Refused("compare the deviation, as in stddev(x) > 2")
    }

    fn gaps(&self, from: &Gathered<'_>) -> Option<Gaps> {
        let ticks = Bands::of(&from.readings(), self.0.bands).ok()?.filled;
        Some(Gaps { ticks, words: "between readings: straight lines stand there" })
    }
}

impl SeveralValues for Spectrum {
    fn values(&self, from: &Gathered<'_>) -> Vec<Part> {
        let (readings, unit) = (from.readings(), squared(&from.unit(&self.0.channel)));
        let count = readings.count();
        let missing = from.missing(&[&self.0.channel], count);
        let part = |name: String, value, bin| Part {
            name,
            counted: Counted { value, count, missing },
            unit: unit.clone(),
            bin,
            time: None,
            interpolated: false,
        };
        let bands = match Bands::of(&readings, self.0.bands) {
            Ok(bands) => bands,
            Err(error) => return vec![part(String::new(), Err(error), None)],
        };
        let last = bands.power.len().saturating_sub(1);
        let of = |(at, (power, ends)): (usize, (&Value, &[f64]))| {
            let close = if at == last { ']' } else { ')' };
            let name = format!("[{}, {}{close}", short(ends[0]), short(ends[1]));
            part(name, Ok(Value { unit: unit.clone(), ..power.clone() }), Some([ends[0], ends[1]]))
        };
        bands.power.iter().zip(bands.edges.windows(2)).enumerate().map(of).collect()
    }

    fn instead(&self) -> String {
        ", or take its sum, the variance: variance(x)".to_owned()
    }
}

/// Returns an end of a band with at most four digits.
fn short(end: f64) -> f64 {
    format!("{end:.3e}").parse().unwrap_or(end)
}
