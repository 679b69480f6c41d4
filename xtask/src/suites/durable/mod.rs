//! Faults between device and owner, with real processes: nothing is lost, nothing is made up.

mod answers;
mod deletion;
mod disk;
mod fixture;
mod http;
mod proxies;
mod requests;
mod soak;
mod source;
mod spool;
mod store;

use super::ask::{Cases, Site, refusal, run_parts};
use crate::suite::{Context, Outcome};
use anyhow::Result;

/// Runs the cases that take seconds.
pub(crate) fn run(context: &Context) -> Result<Outcome> {
    run_parts(
        context,
        &[
            ("the cloud's store", store::run),
            ("requests sent twice", requests::run),
            ("proxies in between", proxies::run),
            ("spools lost, restored and put aside", spool::run),
            ("full disks", disk::run),
            ("sources", source::run),
            ("deletion", deletion::run),
            ("answers", answers::run),
            ("seconds of faults", soak::seconds),
        ],
    )
}

/// Runs an hour of faults.
pub(crate) fn deep(context: &Context) -> Result<Outcome> {
    run_parts(context, &[("an hour of faults", soak::hour)])
}
