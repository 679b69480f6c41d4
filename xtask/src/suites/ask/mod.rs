//! Runs clouds, agents and `sotto ask` as processes, and compares answers with values that this suite computes by other
//! means.

mod along;
mod cases;
mod conditions;
mod contract;
mod datasets;
mod devices;
mod distributions;
mod each;
mod everywhere;
mod frequencies;
mod functions;
mod generator;
mod growing;
mod judge;
mod many;
mod messy;
mod plain_readings;
mod questions;
mod readings;
mod refusals;
mod series;
mod shared;
mod site;
mod soak;
mod truth;

use anyhow::Result;

use crate::suite::{Context, Outcome};
pub(super) use cases::{Cases, run_parts};
pub(super) use generator::Numbers;
pub(super) use refusals::refusal;
pub(super) use site::{Running, Site};

/// Runs the cases that take seconds.
pub(crate) fn run(context: &Context) -> Result<Outcome> {
    run_parts(
        context,
        &[
            ("functions by day", functions::by_day),
            ("functions by hour", functions::by_hour),
            ("data sets", datasets::run),
            ("distributions", distributions::on_datasets),
            ("random windows", distributions::on_random_windows),
            ("comparable channels", distributions::on_comparable_channels),
            ("conditions in the cloud", conditions::run),
            ("conditions declared late", conditions::declared_late),
            ("growing file", growing::run),
            ("messy files", messy::run),
            ("answers for others", shared::run),
            ("readings", readings::run),
            ("readings of data sets", readings::on_datasets),
            ("frequencies", frequencies::run),
            ("refusals", refusals::run),
            ("questions", questions::run),
            ("everywhere", everywhere::run),
        ],
    )
}

/// Runs the cases that take minutes.
pub(crate) fn deep(context: &Context) -> Result<Outcome> {
    run_parts(
        context,
        &[
            ("functions by day", functions::by_day_thoroughly),
            ("functions by hour", functions::by_hour_longer),
            ("200 days", soak::run),
            ("10,000 windows", many::run),
        ],
    )
}
