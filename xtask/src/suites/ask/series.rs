//! The readings and the calendar of this suite. Shares no code with the programs that it checks.

use anyhow::{Context as _, Result};
use jiff::civil::{DateTime, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _, Zoned};
use std::collections::BTreeSet;

/// A declared channel.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) resolution: f64,
}

impl Channel {
    pub(super) fn half(&self) -> f64 {
        self.resolution / 2.0
    }
}

/// The values of a device at one time, in the order of the channels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// Milliseconds since 1970.
    pub(super) at: i64,
    pub(super) device: usize,
    pub(super) values: [Option<f64>; 2],
}

/// The readings that count.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub(super) zone: TimeZone,
    /// Milliseconds.
    pub(super) period: i64,
    /// One or two channels.
    pub(super) channels: Vec<Channel>,
    pub(super) devices: Vec<&'static str>,
    /// In order of time, then of devices.
    pub(super) samples: Vec<Sample>,
}

/// A grouping by the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    All,
    Window,
    Hour,
    Day,
    Week,
    Month,
    QuarterHour,
    SixHours,
    MonthFrom21,
    Quarter,
    Year,
}

impl By {
    pub(super) const fn clause(self) -> &'static str {
        match self {
            Self::All => "",
            Self::Window => " by window",
            Self::Hour => " by hour",
            Self::Day => " by day",
            Self::Week => " by week",
            Self::Month => " by month",
            Self::QuarterHour => " by 15m",
            Self::SixHours => " by 6h",
            Self::MonthFrom21 => " by month from 21",
            Self::Quarter => " by quarter",
            Self::Year => " by year",
        }
    }
}

impl Series {
    pub(super) fn new(
        zone: &str,
        period: i64,
        channels: Vec<Channel>,
        devices: Vec<&'static str>,
    ) -> Result<Self> {
        let zone = TimeZone::get(zone).context("the time zone is not known")?;
        Ok(Self { zone, period, channels, devices, samples: Vec::new() })
    }

    /// Adds rows: drops values outside the channel's range and all but the first reading of a tick.
    pub(super) fn take(&mut self, rows: impl IntoIterator<Item = Sample>) {
        let mut taken = BTreeSet::new();
        for mut row in rows {
            let midnight = self.group(By::Day, row.at).0;
            let tick = (row.at - midnight).div_euclid(self.period);
            for (index, value) in row.values.iter_mut().enumerate() {
                let inside = |value: &f64| {
                    self.channels
                        .get(index)
                        .is_some_and(|channel| (channel.low..=channel.high).contains(value))
                };
                let free = |_: &f64| taken.insert((row.device, index, midnight, tick));
                *value = value.filter(inside).filter(free);
            }
            if row.values.iter().any(Option::is_some) {
                self.samples.push(row);
            }
        }
        self.samples.sort_by_key(|sample| (sample.at, sample.device));
    }

    /// Returns the group that contains a time: its begin, and the begin of the next group.
    pub(super) fn group(&self, by: By, at: i64) -> (i64, i64) {
        let local = Timestamp::from_millisecond(at).unwrap_or_default().to_zoned(self.zone.clone());
        let begins = |date: jiff::civil::Date| {
            let zoned = date.to_zoned(self.zone.clone());
            zoned.map_or(at, |zoned: Zoned| zoned.timestamp().as_millisecond())
        };
        let date = local.date();
        let (first, next) = match by {
            // Only zones with offsets of whole hours are used here.
            By::Hour => return (at - at.rem_euclid(3_600_000), at - at.rem_euclid(3_600_000) + 3_600_000),
            By::Week => {
                let since = date.weekday().since(Weekday::Monday);
                let monday = date.checked_sub(i64::from(since).days()).unwrap_or(date);
                (monday, monday.checked_add(7.days()))
            }
            By::Month => (date.first_of_month(), date.first_of_month().checked_add(1.month())),
            By::QuarterHour => return (at - at.rem_euclid(900_000), at - at.rem_euclid(900_000) + 900_000),
            By::SixHours => {
                let first = date.at(local.hour() / 6 * 6, 0, 0, 0);
                let begins = |civil: DateTime| {
                    civil.to_zoned(self.zone.clone()).map_or(at, |zoned| zoned.timestamp().as_millisecond())
                };
                return (begins(first), begins(first.checked_add(6.hours()).unwrap_or(first)));
            }
            By::MonthFrom21 => {
                let month = if date.day() < 21 { date.checked_sub(1.month()).unwrap_or(date) } else { date };
                let first = month.first_of_month().checked_add(20.days()).unwrap_or(month);
                (first, first.checked_add(1.month()))
            }
            By::Quarter => {
                let since = (date.month() - 1) % 3;
                let first = date.first_of_month().checked_sub(since.months()).unwrap_or(date);
                (first, first.checked_add(3.months()))
            }
            By::Year => (date.first_of_year(), date.first_of_year().checked_add(1.year())),
            _ => (date, date.checked_add(1.day())),
        };
        (begins(first), begins(next.unwrap_or(first)))
    }

    /// Converts a local time such as 2010-01-31T12:30 to milliseconds since 1970. None for a time that the clocks skip.
    pub(super) fn local(&self, text: &str) -> Option<i64> {
        let civil: DateTime = text.parse().ok()?;
        let ambiguous = self.zone.to_ambiguous_timestamp(civil);
        if ambiguous.offset().is_gap() { None } else { Some(ambiguous.earlier().ok()?.as_millisecond()) }
    }
}

trait Gap {
    fn is_gap(&self) -> bool;
}

impl Gap for jiff::tz::AmbiguousOffset {
    fn is_gap(&self) -> bool {
        matches!(self, Self::Gap { .. })
    }
}

/// Returns the cells of comma-separated text without quotes, without the header.
pub(super) fn cells(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().skip(1).filter(|line| !line.trim().is_empty()).map(|line| line.split(',').collect())
}

/// Converts a time of RFC 3339 to milliseconds since 1970.
pub(super) fn instant(text: &str) -> Option<i64> {
    text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}
