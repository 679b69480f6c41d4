//! Decrypted numbers in the readings' own units, beside what the clear readings give.

use anyhow::Context;
use sotto_pack::WindowDescription;

use super::question::{Question, curve, quantisation_bound, tick_weights};

/// An answer of one channel or one reading.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) decrypted: f64,
    pub(super) clear: f64,
    pub(super) error: f64,
    pub(super) bound: f64,
    pub(super) range: f64,
    pub(super) unit: String,
    pub(super) channel: String,
}

/// Raw readings of a window: for each tick a value for each channel.
pub(super) type RawRows = [Vec<Option<f64>>];

/// How many readings of each channel there are in all windows together; their layouts are equal.
pub(super) fn counts(windows: &[WindowDescription]) -> Vec<u32> {
    let channels = windows.first().map_or(0, |window| window.present.len());
    (0..channels).map(|channel| windows.iter().map(|window| window.present[channel]).sum()).collect()
}

/// The answers that `slots` hold, for channels of `count` readings in all windows together. `slot_error` bounds each slot's
/// error (CKKS). `raw` has the readings of each window.
pub(super) fn answers(
    question: Question,
    windows: &[WindowDescription],
    count: u32,
    slots: &[f64],
    slot_error: f64,
    raw: &[&RawRows],
) -> anyhow::Result<Vec<Answer>> {
    let mut answers = Vec::new();
    let window = windows.first().context("a question is about at least one window")?;
    let counts = counts(windows);
    for (index, channel) in window.layout.channels().iter().enumerate() {
        let number = index as u16;
        if counts[index] != count && !question.is_of_each_reading() {
            continue;
        }
        let of_channel = |rows: &&RawRows| -> Vec<Option<f64>> {
            rows.iter().map(|row| row.get(index).copied().flatten()).collect()
        };
        let readings: Vec<Vec<Option<f64>>> = raw.iter().map(of_channel).collect();
        let ticks: Vec<u32> = if question.is_of_each_reading() {
            (0..readings[0].len() as u32).filter(|tick| readings[0][*tick as usize].is_some()).collect()
        } else {
            vec![0]
        };
        for tick in ticks {
            let Some(slot) = window.layout.slot(number, tick) else { continue };
            let decrypted = decoded(question, window, number, count, slots[slot])?;
            let clear = clear(question, window, number, &readings, tick);
            let range = question.range(channel.minimum, channel.maximum);
            // f64 itself rounds, on both sides.
            let rounding = range * 1e-12;
            let bound = quantisation_bound(question, window, number)
                + slot_error * unit_size(question, window, number)
                + rounding;
            let error = (decrypted - clear).abs();
            let unit = unit(question, &channel.unit);
            let channel = channel.name.clone();
            answers.push(Answer { decrypted, clear, error, bound, range, unit, channel });
        }
    }
    Ok(answers)
}

/// A slot in the readings' own units.
fn decoded(
    question: Question,
    window: &WindowDescription,
    channel: u16,
    count: u32,
    slot: f64,
) -> anyhow::Result<f64> {
    let layout = &window.layout;
    let n = f64::from(count);
    Ok(match (question, layout.quantiser(channel), layout.normaliser(channel)) {
        (Question::Mean | Question::MeanOfBoth, Some(quantiser), _) => quantiser.mean(slot as i128, count)?,
        (Question::Variance, Some(quantiser), _) => slot / (n * n) * quantiser.step() * quantiser.step(),
        // Weights sum to 1, so the sum, or the mean of sums, is normalised as a reading is.
        (Question::WeightedSum | Question::WeightedSumOfBoth, _, Some(normaliser)) => normaliser.value(slot),
        (Question::Polynomial, _, Some(_)) => slot,
        _ => anyhow::bail!("the window is not encoded for this question"),
    })
}

/// What an error of 1 in a slot is in the answer's unit.
fn unit_size(question: Question, window: &WindowDescription, channel: u16) -> f64 {
    match (question, window.layout.normaliser(channel)) {
        (Question::WeightedSum | Question::WeightedSumOfBoth, Some(normaliser)) => normaliser.half_range(),
        (Question::Polynomial, _) => 1.0,
        _ => 0.0,
    }
}

fn unit(question: Question, unit: &str) -> String {
    match question {
        Question::Variance if !unit.is_empty() => format!("{unit}²"),
        Question::Polynomial => String::new(),
        _ => unit.to_owned(),
    }
}

/// The same answer from the raw readings of each window, in f64.
fn clear(
    question: Question,
    window: &WindowDescription,
    channel: u16,
    readings: &[Vec<Option<f64>>],
    tick: u32,
) -> f64 {
    let present: Vec<f64> = readings.iter().flatten().flatten().copied().collect();
    let n = present.len() as f64;
    let mean = present.iter().sum::<f64>() / n;
    match question {
        Question::Mean | Question::MeanOfBoth => mean,
        Question::Variance => present.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n,
        Question::WeightedSum | Question::WeightedSumOfBoth => {
            // A missing reading stands for the centre of its range.
            let centre = window.layout.normaliser(channel).map_or(0.0, |n| n.centre());
            let weights = tick_weights(window.layout.ticks());
            let sum = |readings: &Vec<Option<f64>>| -> f64 {
                let value = |tick: usize| readings.get(tick).copied().flatten().unwrap_or(centre);
                weights.iter().enumerate().map(|(tick, weight)| weight * value(tick)).sum()
            };
            readings.iter().map(sum).sum::<f64>() / readings.len() as f64
        }
        Question::Polynomial => {
            let value = readings[0][tick as usize].unwrap_or_default();
            window
                .layout
                .normaliser(channel)
                .map_or(f64::NAN, |n| curve((value - n.centre()) / n.half_range()))
        }
    }
}
