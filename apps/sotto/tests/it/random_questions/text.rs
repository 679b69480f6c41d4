//! The text of questions.

use std::fmt::{self, Display, Formatter};

use super::house::{CHANNELS, DEVICES};
use super::language::{
    Along, By, Call, Condition, Cycle, Dates, Earlier, Expression, Period, Position, Question, Rows, Scope,
    Selected, Where,
};

const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
/// The list of `where date in (…)`.
const LIST: &str = "2025-03-14..2025-03-17, 2025-03-30";

/// A call with the devices that it names behind each channel.
struct Named<'c>(&'c Call, Option<Scope>);

impl Display for Named<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let of = self.1.map_or_else(String::new, |scope| format!(" of {scope}"));
        let name = |x: &Position| format!("{}{of}", CHANNELS[*x].name);
        let list = |numbers: &[f64]| {
            let numbers: Vec<String> = numbers.iter().map(f64::to_string).collect();
            format!("[{}]", numbers.join(", "))
        };
        match self.0 {
            Call::Of(function, x) => write!(out, "{function}({})", name(x)),
            Call::Where(function, Condition::Side(x, sign, limit)) => {
                write!(out, "{function}({} {sign} {limit})", name(x))
            }
            Call::Where(function, Condition::Between(x, low, high)) => {
                let sign = |may_be_equal: bool| if may_be_equal { "<=" } else { "<" };
                write!(out, "{function}({} {} {} {} {})", low.0, sign(low.1), name(x), sign(high.1), high.0)
            }
            Call::Where(function, Condition::State(x, is, open)) => {
                let (sign, state) = (if *is { "=" } else { "!=" }, if *open { "open" } else { "closed" });
                write!(out, "{function}({} {sign} {state})", name(x))
            }
            Call::Degrees(function, x, below, limit) => {
                write!(out, "{function}({}, {} {limit})", name(x), if *below { "below" } else { "above" })
            }
            Call::Two("regression", x, y) => write!(out, "regression({} ~ {})", name(y), name(x)),
            Call::Two(function, x, y) => write!(out, "{function}({}, {})", name(x), name(y)),
            Call::TwoOf(function, both) => {
                let [x, y] =
                    both.map(|(x, device)| format!("{} of {}", CHANNELS[x].name, DEVICES[device].name));
                match *function {
                    "regression" => write!(out, "regression({y} ~ {x})"),
                    function => write!(out, "{function}({x}, {y})"),
                }
            }
            Call::Weights(x, weights) => write!(out, "weighted_sum({}, {})", name(x), list(weights)),
            Call::HalfLife(x, hours) => write!(out, "weighted_sum({}, half_life {hours}h)", name(x)),
            Call::MovingAverage(x, groups) => write!(out, "moving_average({}, {groups})", name(x)),
            Call::Quantile(x, share) => write!(out, "quantile({}, {share})", name(x)),
            Call::Difference(function, x, y) => write!(out, "{function}({} - {})", name(x), name(y)),
            Call::Bins(x, bins) => write!(out, "histogram({}, {bins})", name(x)),
            Call::Edges(x, edges) => write!(out, "histogram({}, {})", name(x), list(edges)),
            Call::Interpolate(x, None) => write!(out, "interpolate({})", name(x)),
            Call::Interpolate(x, Some(hours)) => write!(out, "interpolate({}, {hours}h)", name(x)),
            Call::Spectrum(x, bands) => write!(out, "spectrum({}, {bands})", name(x)),
            Call::Polynomial(function, x, c) => {
                write!(out, "{function}(polynomial({}, {}))", name(x), list(c))
            }
        }
    }
}

impl Display for Scope {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device(device) => out.write_str(DEVICES[*device].name),
            Self::Tag(tag) => write!(out, "tag {tag}"),
            Self::All => out.write_str("all devices"),
        }
    }
}

impl Display for Expression {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(out, "{number}"),
            Self::Call(call, of) => write!(out, "{}", Named(call, *of)),
            Self::Offset(call, of, Earlier::Previous) => write!(out, "{} offset previous", Named(call, *of)),
            Self::Offset(call, of, Earlier::Time(count, unit)) => {
                write!(out, "{} offset {count}{unit}", Named(call, *of))
            }
            Self::Along(along, call, of) => match along {
                Along::Cumulative => write!(out, "cumulative({})", Named(call, *of)),
                Along::Difference => write!(out, "difference({})", Named(call, *of)),
                Along::Rate => write!(out, "rate({})", Named(call, *of)),
                Along::Alpha(alpha) => write!(out, "ewma({}, {alpha})", Named(call, *of)),
                Along::HalfLife(hours) => write!(out, "ewma({}, half_life {hours}h)", Named(call, *of)),
            },
            Self::Tariff(call, of) => write!(out, "tariff({}, tariff.toml)", Named(call, *of)),
            Self::Negate(of) => match **of {
                Self::Two(..) => write!(out, "-({of})"),
                _ => write!(out, "-{of}"),
            },
            Self::Two(sign, left, right) => {
                let binds = |of: &Self, least: u8| match of {
                    Self::Two('+' | '-', ..) => least <= 1,
                    Self::Two(..) => least <= 2,
                    _ => true,
                };
                let least = if matches!(sign, '+' | '-') { 1 } else { 2 };
                let part =
                    |of: &Self, least| if binds(of, least) { of.to_string() } else { format!("({of})") };
                write!(out, "{} {sign} {}", part(left, least), part(right, least + 1))
            }
        }
    }
}

impl Display for By {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let cycle = |cycle: Cycle| match cycle {
            Cycle::Hour => "hour of day",
            Cycle::Weekday => "weekday",
            Cycle::Month => "month of year",
        };
        match self {
            Self::Window => out.write_str("window"),
            Self::Minutes(minutes) if minutes % 60 == 0 => write!(out, "{}h", minutes / 60),
            Self::Minutes(minutes) => write!(out, "{minutes}m"),
            Self::Hour => out.write_str("hour"),
            Self::Day => out.write_str("day"),
            Self::Week => out.write_str("week"),
            Self::Month => out.write_str("month"),
            Self::MonthFrom(day) => write!(out, "month from {day}"),
            Self::Quarter => out.write_str("quarter"),
            Self::Year => out.write_str("year"),
            Self::Recurring(one, None) => out.write_str(cycle(*one)),
            Self::Recurring(one, Some(other)) => write!(out, "{} and {}", cycle(*one), cycle(*other)),
        }
    }
}

impl Display for Where {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let mut all: Vec<String> = Vec::new();
        let names: Vec<&str> = self.devices.iter().map(|device| DEVICES[*device].name).collect();
        all.extend((!names.is_empty()).then(|| format!("device in ({})", names.join(", "))));
        all.extend((!self.tags.is_empty()).then(|| format!("tag in ({})", self.tags.join(", "))));
        all.extend(self.time.map(|(from, to)| {
            format!("time {:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60, to % 60)
        }));
        let days: Vec<&str> = self.weekdays.iter().map(|day| DAYS[*day as usize]).collect();
        all.extend((!days.is_empty()).then(|| format!("weekday in ({})", days.join(", "))));
        let months: Vec<String> = self.months.iter().map(i8::to_string).collect();
        all.extend((!months.is_empty()).then(|| format!("month in ({})", months.join(", "))));
        all.extend(self.dates.map(|Dates { not, file }| {
            let days = if file { "holidays.txt".to_owned() } else { format!("({LIST})") };
            format!("date {}in {days}", if not { "not " } else { "" })
        }));
        if all.is_empty() { Ok(()) } else { write!(out, " where {}", all.join(" and ")) }
    }
}

impl Display for Question {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if let Some((top, count)) = self.ranking {
            write!(out, "{} {count} devices of ", if top { "top" } else { "bottom" })?;
        }
        for (at, Selected { of, unit, name }) in self.select.iter().enumerate() {
            write!(out, "{}{of}", if at == 0 { "" } else { ", " })?;
            unit.iter().try_for_each(|unit| write!(out, " in {unit}"))?;
            name.iter().try_for_each(|name| write!(out, " as {name}"))?;
        }
        match &self.period {
            Period::All => {}
            Period::Over(count, unit) => write!(out, " over {count}{unit}")?,
            Period::During(span) => write!(out, " during {span}")?,
            Period::Between(since, until) => {
                since.iter().try_for_each(|since| write!(out, " since {since}"))?;
                until.iter().try_for_each(|until| write!(out, " until {until}"))?;
            }
        }
        self.by.iter().try_for_each(|by| write!(out, " by {by}"))?;
        out.write_str(match self.rows {
            Rows::Across => "",
            Rows::Device => " per device",
            Rows::Tag => " per tag",
        })?;
        write!(out, "{}", self.conditions)
    }
}
