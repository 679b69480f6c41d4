//! What the owner asks of a window, or of one window of each device, and what the answer means in the readings' own units.

use sotto_pack::{Layout, WindowDescription, bounds};
use sotto_program::{
    Constant, InputDeclaration, KeyNumber, ParseOptions, Program, ProgramBuilder, ProgramError, parse,
};

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// The mean of each channel: a sum, divided by the count after decryption.
    Mean,
    /// The variance of each channel: N·Σx² − (Σx)², divided by N² after decryption.
    Variance,
    /// A sum of each channel in which recent readings weigh more.
    WeightedSum,
    /// A calibration curve of degree 3, for each reading.
    Polynomial,
    /// The mean of each channel over the readings of both devices.
    MeanOfBoth,
    /// The mean of both devices' weighted sums.
    WeightedSumOfBoth,
}

/// The curve, on readings normalised to [−1, 1]: lowest coefficient first.
pub(super) const CURVE: [f64; 4] = [0.05, 0.6, -0.2, 0.35];
/// A device's window by name, and whose key it is under: the answer's, or a foreign one.
const INPUTS: [(&str, u16); 2] = [("x", 0), ("y", 1)];
/// Each reading weighs this much of the one after it, relative to the window's length.
const DECAY: f64 = 3.0;

impl Question {
    /// Questions that BFV and BGV answer exactly.
    pub(super) const EXACT: [Self; 3] = [Self::Mean, Self::Variance, Self::MeanOfBoth];
    /// Questions on reals.
    pub(super) const REAL: [Self; 3] = [Self::WeightedSum, Self::Polynomial, Self::WeightedSumOfBoth];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Variance => "variance",
            Self::WeightedSum => "weighted sum",
            Self::Polynomial => "polynomial of degree 3",
            Self::MeanOfBoth => "mean of both",
            Self::WeightedSumOfBoth => "weighted sum of both",
        }
    }

    /// How many devices it is about.
    pub(super) fn devices(self) -> usize {
        match self {
            Self::MeanOfBoth | Self::WeightedSumOfBoth => 2,
            Self::Mean | Self::Variance | Self::WeightedSum | Self::Polynomial => 1,
        }
    }

    /// What is done after decryption, beside decoding.
    pub(super) fn after_decryption(self) -> Option<&'static str> {
        match self {
            Self::Mean | Self::MeanOfBoth => Some("divide-by-count"),
            Self::Variance => Some("divide-by-count-squared"),
            Self::WeightedSum | Self::Polynomial | Self::WeightedSumOfBoth => None,
        }
    }

    /// Whether every reading has an answer of its own, and not every channel.
    pub(super) fn is_of_each_reading(self) -> bool {
        self == Self::Polynomial
    }

    /// The program, for windows of `block` slots a channel, values up to `magnitude` and `count` readings of each channel.
    pub(super) fn program(
        self,
        block: u32,
        magnitude: f64,
        count: u32,
        weights: &[f64],
    ) -> anyhow::Result<Program> {
        let input = |(name, key): (&str, u16)| InputDeclaration::new(name, magnitude).under(KeyNumber(key));
        let inputs = INPUTS[..self.devices()].iter().copied().map(input).collect();
        let options = ParseOptions { inputs, sum_width: Some(block), ..ParseOptions::default() };
        let text = match self {
            Self::Mean => "sum(x)".to_owned(),
            Self::MeanOfBoth => "sum(x + y)".to_owned(),
            Self::Variance => format!("{count}*sum(x*x) - sum(x)^2"),
            Self::Polynomial => {
                let [c0, c1, c2, c3] = CURVE;
                format!("{c3}*x^3 + ({c2})*x^2 + {c1}*x + {c0}")
            }
            Self::WeightedSum | Self::WeightedSumOfBoth => {
                return Ok(weighted_sum(block, magnitude, weights, self.devices())?);
            }
        };
        Ok(parse(&text, &options)?.program)
    }

    /// The range that an answer can have: what its bound is held against.
    pub(super) fn range(self, minimum: f64, maximum: f64) -> f64 {
        let width = maximum - minimum;
        match self {
            Self::Mean | Self::WeightedSum | Self::MeanOfBoth | Self::WeightedSumOfBoth => width,
            Self::Variance => width * width / 4.0,
            Self::Polynomial => {
                let values = (0..=1000).map(|i| curve(f64::from(i) / 500.0 - 1.0));
                let (low, high) = values.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
                high - low
            }
        }
    }
}

/// The mean over the devices of their weighted sums. Windows are added before they are weighted: so their errors are weighted
/// with them, and there is one product to rescale.
fn weighted_sum(
    block: u32,
    magnitude: f64,
    weights: &[f64],
    devices: usize,
) -> Result<Program, ProgramError> {
    let mut builder = ProgramBuilder::new();
    let mut total = builder.input(INPUTS[0].0, magnitude);
    for (name, key) in &INPUTS[1..devices] {
        let window = builder.input_under(*name, magnitude, KeyNumber(*key));
        total = builder.add(total, window);
    }
    let weights = weights.iter().map(|weight| weight / devices as f64).collect();
    let weights = builder.constant(Constant::Reals(weights));
    let product = builder.mul(total, weights);
    let sum = builder.sum(product, block);
    builder.output("result", sum);
    builder.finish()
}

/// The curve at a normalised reading.
pub(super) fn curve(x: f64) -> f64 {
    CURVE.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// Weights of a window's ticks, oldest first; they sum to 1.
pub(super) fn tick_weights(ticks: u32) -> Vec<f64> {
    let weight = |tick: u32| (DECAY * (f64::from(tick + 1) / f64::from(ticks) - 1.0)).exp();
    let total: f64 = (0..ticks).map(weight).sum();
    (0..ticks).map(|tick| weight(tick) / total).collect()
}

/// The weights where a layout has its ticks, zero elsewhere.
pub(super) fn slot_weights(layout: &Layout) -> Vec<f64> {
    let mut slots = vec![0.0; layout.slots()];
    let weights = tick_weights(layout.ticks());
    for channel in 0..layout.channels().len() as u16 {
        for (tick, weight) in weights.iter().enumerate() {
            if let Some(slot) = layout.slot(channel, tick as u32) {
                slots[slot] = *weight;
            }
        }
    }
    slots
}

/// What quantising a channel adds to the bound of an answer; nothing for reals.
pub(super) fn quantisation_bound(question: Question, window: &WindowDescription, channel: u16) -> f64 {
    let Some(quantiser) = window.layout.quantiser(channel) else { return 0.0 };
    let half_step = quantiser.value_error();
    let range = &window.layout.channels()[usize::from(channel)];
    match question {
        Question::Mean | Question::MeanOfBoth => bounds::mean(half_step),
        Question::Variance => bounds::variance_in_range(range.minimum, range.maximum, half_step),
        Question::WeightedSum | Question::Polynomial | Question::WeightedSumOfBoth => 0.0,
    }
}
