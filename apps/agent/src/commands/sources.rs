//! `sotto-agent sources`: shows the sensors' present readings.

use anyhow::{Context, Result};
use serde::Serialize;
use sotto_pack::Channel;

use crate::arguments::SourcesArguments;
use crate::source::{Sensors, Source};
use crate::stop::Stop;

#[derive(Serialize)]
struct Given<'c> {
    #[serde(flatten)]
    channel: &'c Channel,
    value: Option<f64>,
}

/// Reads each sensor once and returns lines for people, or JSON.
///
/// # Errors
/// This machine has no readable sensors.
pub fn run(arguments: &SourcesArguments) -> Result<String> {
    let mut sensors = Sensors::open(sotto_pack::Period::from_milliseconds(1000), Stop::new())?;
    let row = sensors.next_row()?;
    let given: Vec<Given<'_>> = sensors
        .channels()
        .iter()
        .zip(row.values.iter())
        .map(|(channel, value)| Given { channel, value: *value })
        .collect();
    if arguments.json {
        return serde_json::to_string_pretty(&given).context("the readings cannot be written as JSON");
    }
    let width = given.iter().map(|given| given.channel.name.chars().count()).max().unwrap_or(0);
    let line = |given: &Given<'_>| {
        let Channel { name, unit, minimum, maximum, .. } = given.channel;
        let value = given.value.map_or("missing".to_owned(), |value| format!("{value:.1}"));
        format!("{name:width$}  {value:>7} {unit}  ({minimum} to {maximum})")
    };
    Ok(given.iter().map(line).collect::<Vec<_>>().join("\n"))
}
