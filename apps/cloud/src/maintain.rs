//! Maintenance of the store: sealing, the object store, rebuild of the rows, and expiry of jobs.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use sotto_service::config::print;

use crate::cloud::Cloud;
use crate::config::Config;
use crate::startup;
use crate::store::{Sealing, milliseconds};
use crate::streams;

/// Interval between two deletions of expired jobs.
const INTERVAL: Duration = Duration::from_secs(3600);
const DAY: i64 = 86_400_000;

/// Rebuilds the rows of a stopped cloud from its envelopes.
///
/// # Errors
/// The cloud is running, or the store cannot be read or written.
pub fn rebuild(config: &Config) -> anyhow::Result<()> {
    let recovered = startup::rebuild(config)?;
    print(&format!(
        "{}: {} envelopes have rows again; {} files without one are in orphans/; {} rows lack their file\n",
        config.data.display(),
        recovered.rebuilt,
        recovered.orphaned,
        recovered.missing
    ))?;
    if recovered.orphaned > 0 {
        print(
            "Envelopes of devices that are not registered get their rows once they are: put the enrolments into their folder, or register the devices, and run this again.\n",
        )?;
    }
    Ok(())
}

/// Longest pause between two attempts to reach the object store.
const LONGEST: Duration = Duration::from_secs(60);
/// Interval between two looks at the windows that are in no segment.
const LOOK: Duration = Duration::from_secs(1);
/// Looks after which all of them are sealed, however few they are: 5 minutes.
const LOOKS: u32 = 300;

/// Seals windows of sums and makes the sums of segments, until the runtime ends.
pub(crate) async fn seal(cloud: Arc<Cloud>) {
    for look in (1..=LOOKS).cycle() {
        tokio::time::sleep(LOOK).await;
        let which = if look == LOOKS { Sealing::All } else { Sealing::IfMany };
        let sealed = Arc::clone(&cloud).blocking(move |cloud| Ok(cloud.store.seal(which)?)).await;
        match sealed {
            Ok(0) => {}
            Ok(windows) => tracing::info!(windows, "sealed"),
            // The windows stay in the database.
            Err(problem) => tracing::error!(detail = problem.detail, "windows cannot be sealed"),
        }
        let made = Arc::clone(&cloud).blocking(|cloud| {
            while streams::make_nodes(&cloud.store)? {}
            Ok(())
        });
        if let Err(problem) = made.await {
            tracing::error!(detail = problem.detail, "sums of segments cannot be made");
        }
    }
}

/// Sends sealed segments to the object store and frees the disk, until the runtime ends.
pub(crate) async fn tend(cloud: Arc<Cloud>) {
    if cloud.config.objects.is_none() {
        return;
    }
    let mut pause = LOOK;
    loop {
        tokio::time::sleep(pause).await;
        let tended = Arc::clone(&cloud)
            .blocking(move |cloud| Ok(cloud.store.tend_tier().map_err(|error| error.to_string())))
            .await;
        pause = match tended {
            Ok(Ok(sent)) => {
                if sent > 0 {
                    tracing::info!(segments = sent, "sent to the object store");
                }
                LOOK
            }
            // The segments stay on the disk.
            Ok(Err(reason)) => {
                tracing::error!(reason, "the object store is not in step");
                (pause * 2).min(LONGEST)
            }
            Err(_) => LONGEST,
        };
    }
}

/// Deletes expired jobs, now and once an hour, until the runtime ends.
pub(crate) async fn age(cloud: Arc<Cloud>) {
    let days = i64::try_from(cloud.config.keep_jobs).unwrap_or(i64::MAX);
    if days == 0 {
        return;
    }
    loop {
        let before = milliseconds(SystemTime::now()).saturating_sub(days.saturating_mul(DAY));
        let deleted = Arc::clone(&cloud).blocking(move |cloud| Ok(cloud.store.forget_jobs(before)?)).await;
        if let Ok(jobs @ 1..) = deleted {
            tracing::info!(jobs, "jobs have aged out");
        }
        tokio::time::sleep(INTERVAL).await;
    }
}
