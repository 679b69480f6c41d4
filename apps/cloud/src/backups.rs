//! Commands that copy a store, and bring a copy back.

use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

use anyhow::Context as _;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::Serialize;
use sotto_service::config::print;

use crate::config::Config;
use crate::objects::{Objects, Place};
use crate::progress::{end_progress, progress};
use crate::store::{self, Moment, milliseconds};

const DAY: i64 = 86_400_000;

/// A number of days: `30d`.
///
/// ```
/// use sotto_cloud::backups::Days;
///
/// assert_eq!("30d".parse(), Ok(Days(30)));
/// assert!("30".parse::<Days>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Days(pub u32);

impl Default for Days {
    fn default() -> Self {
        Self(30)
    }
}

impl fmt::Display for Days {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}d", self.0)
    }
}

impl FromStr for Days {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let days = text.strip_suffix('d').and_then(|days| days.parse().ok());
        days.map(Self).ok_or("a number of days is written so: 30d")
    }
}

/// A moment, in milliseconds since 1970.
///
/// ```
/// use sotto_cloud::backups::At;
///
/// assert_eq!("1970-01-02".parse(), Ok(At(86_400_000)));
/// assert_eq!("1970-01-02T01:00+01:00".parse(), Ok(At(86_400_000)));
/// assert!("yesterday".parse::<At>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At(pub i64);

impl FromStr for At {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let in_utc = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok().map(|at| at.timestamp());
        let at = text.parse::<Timestamp>().ok().or_else(in_utc);
        let wrong = "a time is written so: 2026-05-01T12:30, in UTC, or 2026-05-01T12:30+02:00";
        at.map(|at| Self(at.as_millisecond())).ok_or(wrong)
    }
}

/// Copies the store of a cloud, which may be running, to a folder or a bucket, and removes moments that are older than `keep`.
///
/// # Errors
/// The store cannot be read, or the place cannot be written.
pub fn backup(config: &Config, to: impl Into<Place>, keep: Days) -> anyhow::Result<()> {
    let to = to.into();
    let tier = config.tier()?;
    let copied =
        store::backup(&config.data, tier.as_ref(), &to, i64::from(keep.0) * DAY, files(progress("copied")));
    end_progress();
    let copied = copied.with_context(|| format!("no backup of {}", config.data.display()))?;
    let expired = match copied.expired {
        0 => String::new(),
        files => format!("; removed {files} of more than {} days", keep.0),
    };
    print(&format!(
        "{to}: {} files, {} of them new with {} bytes{expired}\n",
        copied.files, copied.new, copied.bytes
    ))
}

/// Replaces the store of a stopped cloud by a backup: its last one, or the last that is not after `at`.
///
/// # Errors
/// The cloud is running, the backup is incomplete or has nothing of that time, or a folder cannot be written.
pub fn restore(config: &Config, from: impl Into<Place>, at: Option<At>) -> anyhow::Result<()> {
    let from = from.into();
    let now = milliseconds(SystemTime::now());
    let until = at.map(|At(at)| Moment(at));
    let objects = Objects::open(&from)?;
    let restored = store::restore(&config.data, &objects, until, now, files(progress("fetched")));
    end_progress();
    let (copied, moment) =
        restored.with_context(|| format!("{from} is not restored to {}", config.data.display()))?;
    let of = moment.map(|moment| format!(", of {}", moment.shown())).unwrap_or_default();
    print(&format!(
        "{}: {} files restored{of}\nFiles that were there before are in before-restore-{now} beside them.\n",
        config.data.display(),
        copied.files
    ))
}

/// A moment to which a store can be restored.
#[derive(Serialize)]
struct Listed {
    /// In UTC.
    at: String,
    /// Bytes of its database.
    database_bytes: u64,
}

/// Prints the moments that a backup has.
///
/// # Errors
/// The place cannot be read, or has no backup.
pub fn list(from: &Place, json: bool) -> anyhow::Result<()> {
    let moments = store::moments(&Objects::open(from)?)?;
    if json {
        let listed = moments
            .iter()
            .map(|(at, database_bytes)| Listed { at: at.shown(), database_bytes: *database_bytes });
        return print(&(serde_json::to_string_pretty(&listed.collect::<Vec<_>>())? + "\n"));
    }
    anyhow::ensure!(!moments.is_empty(), "{from} has no backup of a cloud");
    moments.iter().try_for_each(|(at, _)| print(&format!("{}\n", at.shown())))
}

/// Makes a callback for text one for the files that are done, and all of them.
fn files(mut told: impl FnMut(String)) -> impl FnMut(usize, usize) {
    move |done, all| told(format!("{done} of {all} files"))
}
