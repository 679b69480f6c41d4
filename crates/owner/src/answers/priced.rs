//! Costs by a tariff: the parts of a row between changes of the price, each with its tallies. A value that cannot be divided
//! between prices is between that at the lowest and that at the highest of them.

use std::collections::{BTreeMap, BTreeSet};

use super::listed::Listed;
use crate::functions::{AddsUp, Yields};
use crate::gathered::{Between, Channels, Counted, Gathered, NeedId, Tally};
use crate::language::Tariff;
use crate::question::{AskedCall, Priced, Question, priced_unit};
use crate::value::{Value, ValueError};
use crate::windows::{self, DeviceWindows, Group, Grouping, InGroup, Segments, StoredWindow};

const NO_PRICE: ValueError = ValueError::Undetermined("a part of the time has no price");

/// The prices of a part of the time, by their positions in the tariff.
type Prices = BTreeSet<Option<usize>>;

/// The parts of a row by one tariff.
#[derive(Clone, Debug, Default)]
pub(crate) struct OfPrices {
    /// What lies inside of times with one price.
    whole: BTreeMap<Option<usize>, Tally>,
    /// The increases over ends of such times.
    over: Vec<Over>,
    /// The readings whose tick spans an end of such times, by channel.
    cut: BTreeMap<String, Vec<Cut>>,
}

/// The increase from the last reading of a time with one price to the first of another.
#[derive(Clone, Debug)]
struct Over {
    need: NeedId,
    increase: Between,
    prices: Prices,
}

/// A reading whose tick begins at one price and ends at another.
#[derive(Clone, Debug)]
struct Cut {
    /// The price at its beginning, which its tally has.
    first: Option<usize>,
    prices: Prices,
    /// The ends of the channel's range.
    range: (f64, f64),
    /// Hours of its period.
    hours: f64,
}

/// Returns the parts of each row, by the name of the tariff's file.
pub(super) fn of_rows(
    question: &Question,
    listed: &Listed,
    by_device: &[Vec<Tally>],
    devices: &[usize],
) -> BTreeMap<String, Vec<OfPrices>> {
    let channels: BTreeSet<&str> =
        question.priced().filter_map(|priced| priced.of.of().adds_up()?.of_reading()).collect();
    let of = |((file, _), tariff): ((&str, &Tariff), usize)| {
        let segments = &listed.segments;
        let mut rows = vec![OfPrices::default(); segments.rows.len()];
        for device in devices {
            let times = Times { segments, tariff };
            times.add_tallies(&by_device[*device], &mut rows);
            times.add_cuts(&listed.devices[*device], &channels, &mut rows);
        }
        (file.to_owned(), rows)
    };
    question.tariffs().into_iter().zip(0..).map(of).collect()
}

/// The times of an answer, and one of its tariffs.
struct Times<'s> {
    segments: &'s Segments,
    tariff: usize,
}

impl Times<'_> {
    fn price(&self, time: usize) -> Option<usize> {
        self.segments.prices[time].get(self.tariff).copied().flatten()
    }

    fn add_tallies(&self, tallies: &[Tally], rows: &mut [OfPrices]) {
        for (tally, time) in tallies.iter().zip(0..) {
            if let Some(row) = self.segments.row_of[time] {
                let mut inside = tally.clone();
                inside.windows.values_mut().for_each(|windows| windows.leave_out_crossings());
                rows[row].whole.entry(self.price(time)).or_default().merge(&inside);
            }
            for (need, windows) in &tally.windows {
                let over = windows.crossings().filter(|crossing| !crossing.is_inside());
                // One over a gap stands in all times that it touches.
                for crossing in over.filter(|crossing| crossing.groups.1 == time || crossing.is_next) {
                    let (first, last) = crossing.groups;
                    let growth = self.growths(first..=last, crossing.is_next.then_some(time));
                    let is_whole = growth.len() == 1 && growth.iter().all(|(_, (_, all))| *all);
                    for (row, (prices, _)) in growth {
                        let Between { low, high, error } = crossing.whole.0;
                        let low = if is_whole { low } else { low.min(0.0) };
                        // Its readings are ends of increases at other prices, too: their rounding does not cancel out.
                        let increase = Between { low, high, error: error + 2.0 * crossing.error };
                        rows[row].over.push(Over { need: *need, increase, prices });
                    }
                }
            }
        }
    }

    /// Returns the rows of some times, each with their prices, and true if all of the times are its own. An increase between
    /// neighbouring ticks belongs to the row of the later one, `only`.
    fn growths(
        &self,
        times: std::ops::RangeInclusive<usize>,
        only: Option<usize>,
    ) -> BTreeMap<usize, (Prices, bool)> {
        let mut rows: BTreeMap<usize, (Prices, bool)> = BTreeMap::new();
        if let Some(time) = only {
            let prices = times.map(|time| self.price(time)).collect();
            rows.extend(self.segments.row_of[time].map(|row| (row, (prices, true))));
            return rows;
        }
        let all = times.clone().count();
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for time in times {
            let Some(row) = self.segments.row_of[time] else { continue };
            rows.entry(row).or_default().0.insert(self.price(time));
            *counts.entry(row).or_default() += 1;
        }
        rows.iter_mut().for_each(|(row, (_, whole))| *whole = counts[row] == all);
        rows
    }

    fn add_cuts(&self, device: &DeviceWindows, channels: &BTreeSet<&str>, rows: &mut [OfPrices]) {
        for window in &device.windows {
            let of_window: Vec<(&str, u16)> =
                channels.iter().filter_map(|name| Some((*name, window.channel(name)?))).collect();
            if of_window.is_empty() {
                continue;
            }
            let times = &self.segments.times;
            for InGroup { group: time, ticks } in windows::pieces(times, Grouping::Times, window) {
                let (last, end) = (ticks.end - 1, window.to().min(window.instant(ticks.end)));
                let Some(row) = self.segments.row_of[time].filter(|_| times[time].to < end) else { continue };
                let prices: Prices = self.until(time, end).map(|time| self.price(time)).collect();
                if prices.len() < 2 {
                    continue;
                }
                for (name, at) in &of_window {
                    if window.description.presence(*at).is_none_or(|presence| presence.contains(last)) {
                        let cut = self.cut(window, *at, time, prices.clone());
                        rows[row].cut.entry((*name).to_owned()).or_default().push(cut);
                    }
                }
            }
        }
    }

    fn cut(&self, window: &StoredWindow, channel: u16, time: usize, prices: Prices) -> Cut {
        let of = &window.layout().channels()[usize::from(channel)];
        let rounding = of.resolution.unwrap_or_default();
        Cut {
            first: self.price(time),
            prices,
            range: (of.minimum - rounding, of.maximum + rounding),
            hours: window.description.period.hours(),
        }
    }

    /// Iterates over the times from one to the end of a tick.
    fn until(&self, first: usize, end: i64) -> impl Iterator<Item = usize> {
        let times: &[Group] = &self.segments.times;
        (first..times.len()).take_while(move |at| times[*at].from < end)
    }
}

impl<'c> AddsUp<'c> {
    /// Returns the channel whose readings each stand for their period; None if they are those of a counter.
    fn of_reading(self) -> Option<&'c str> {
        match self {
            Self::Value(channel) | Self::Energy(channel) | Self::Hours(channel) | Self::One(channel) => {
                Some(channel)
            }
            Self::Growth(_) => None,
        }
    }

    /// Returns the least and the most that a reading adds.
    fn ends(self, cut: &Cut) -> (f64, f64) {
        let (low, high) = cut.range;
        match self {
            Self::Value(_) => (low, high),
            Self::Energy(_) => (low * cut.hours, high * cut.hours),
            Self::Hours(_) => (0.0, cut.hours),
            Self::One(_) => (0.0, 1.0),
            Self::Growth(_) => (0.0, 0.0),
        }
    }
}

/// Returns the cost of a call's value. `own` is this value over all prices.
pub(super) fn cost(
    asked: &AskedCall<'_>,
    priced: &Priced,
    parts: Option<&OfPrices>,
    own: Counted,
    channels: &dyn Channels,
) -> Counted {
    let (Yields::One(of), Some(adds_up)) = (asked.call.of().yields(), asked.call.of().adds_up()) else {
        return own;
    };
    if own.value.is_err() {
        return own;
    }
    let value = || {
        let (tariff, parts) = priced.tariff.as_ref().zip(parts).ok_or(NO_PRICE)?;
        let price = |at: Option<usize>| {
            at.and_then(|at| tariff.prices.get(at)).map(|price| price.price).ok_or(NO_PRICE)
        };
        let mut total = Value::exact(0.0);
        for (at, tally) in &parts.whole {
            let gathered = Gathered::new(std::slice::from_ref(tally), &asked.needs, channels);
            let Counted { value, count, .. } = of.value(&gathered);
            if count > 0 {
                total = total.plus(&value?.bare().times(&Value::exact(price(*at)?)))?;
            }
        }
        for Over { increase, prices, .. } in parts.over.iter().filter(|over| asked.needs.contains(&over.need))
        {
            let (least, most) = ends(prices.iter().map(|at| price(*at)))?;
            let amount = increase.value("");
            let (low, high) = amount.ends();
            total = total.plus(&between([low * least, low * most, high * least, high * most]))?;
        }
        for cut in
            parts.cut.iter().filter(|(name, _)| adds_up.of_reading() == Some(name)).flat_map(|(_, cuts)| cuts)
        {
            let ((least, most), first) = (ends(cut.prices.iter().map(|at| price(*at)))?, price(cut.first)?);
            let (low, high) = adds_up.ends(cut);
            let (down, up) = (least - first, most - first);
            total = total.plus(&between([low * down, low * up, high * down, high * up]))?;
        }
        let to_unit = priced_unit(&of.unit(channels), tariff)
            .map_err(|_| ValueError::Undetermined("its unit has no price"))?;
        Ok(total.converted(to_unit, &tariff.currency))
    };
    Counted { value: value(), ..own }
}

/// Returns the smallest and the largest of some prices.
fn ends(prices: impl Iterator<Item = Result<f64, ValueError>>) -> Result<(f64, f64), ValueError> {
    let mut ends = (f64::INFINITY, f64::NEG_INFINITY);
    for price in prices {
        let price = price?;
        ends = (ends.0.min(price), ends.1.max(price));
    }
    Ok(ends)
}

/// Returns the middle of these values, and half of the distance between the outermost as its bound.
fn between(values: [f64; 4]) -> Value {
    let (low, high) = values
        .into_iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    Between { low, high, error: 0.0 }.value("")
}

/// Returns a note for each tariff, with the days that its files name.
pub(super) fn notes(question: &Question) -> Vec<String> {
    let mut notes = Vec::new();
    for (file, tariff) in question.tariffs() {
        let per = if tariff.unit.is_empty() { "each".to_owned() } else { format!("per {}", tariff.unit) };
        let prices = if tariff.prices.len() == 1 {
            "1 price".to_owned()
        } else {
            format!("{} prices", tariff.prices.len())
        };
        notes.push(format!("{file} has {prices} in {} {per}", tariff.currency));
        let files = tariff.prices.iter().filter_map(|price| price.times.dates.as_ref());
        notes.extend(files.filter_map(super::group_notes::on_dates));
    }
    notes.dedup();
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gathered::{Ends, Held, Need, Needed, WindowQuantity};
    use crate::question::Asked;
    use crate::work::note_crossings;
    use sotto_pack::Period;
    use sotto_pack::{Counter, Increase, Quantiser};

    const TARIFF: &str =
        "currency = \"EUR\"\n[[prices]]\nprice = 0.5\ntime = \"22:00-06:00\"\n[[prices]]\nprice = 2\n";

    /// A counter in kWh.
    struct Meter;

    impl Channels for Meter {
        fn unit(&self, _: &str) -> String {
            "kWh".to_owned()
        }
        fn range(&self, _: &str) -> Option<(f64, f64)> {
            Some((0.0, 1000.0))
        }
        fn resolution(&self, _: &str) -> Option<f64> {
            Some(1.0)
        }
        fn period(&self, _: &str) -> Option<sotto_pack::Period> {
            Some(Period::from_milliseconds(60_000))
        }
    }

    /// A window by the times and values of its first and last reading, of which `error` is the rounding.
    fn held(first: (i64, f64), last: (i64, f64), error: f64) -> Held {
        let quantiser = Quantiser::with_resolution(0.0, 1000.0, 1.0).expect("a range");
        let number = |value: f64| quantiser.quantise(value).expect("in range");
        let rule = Increase::new(&Counter::default(), &quantiser);
        let (first_at, last_at) = (60_000 * first.0, 60_000 * last.0);
        let ends = Ends {
            first_at,
            last_at,
            first: number(first.1),
            last: number(last.1),
            period: sotto_pack::Period::from_milliseconds(60_000),
            quantiser,
            error,
            rule,
        };
        let exactly = |quantity, value| (quantity, Between::exactly(value));
        let values = vec![
            exactly(WindowQuantity::Increase, last.1 - first.1),
            exactly(WindowQuantity::Doubt, 0.0),
            exactly(WindowQuantity::Falls, 0.0),
        ];
        Held { from: first_at, to: last_at + 60_000, readings: 2, values, ends: Some(ends), shape: None }
    }

    /// Returns the least and the most that an increase costs in each row. A time has a row, a price and a window.
    fn costs(times: &[(usize, usize, Option<Held>)]) -> Vec<Option<(f64, f64)>> {
        let mut question = Question::parse("tariff(increase(x), t.toml)").expect("a question");
        question.attach_tariff("t.toml", &Tariff::parse(TARIFF).expect("a tariff"));
        let asked = Asked::new(&question);
        let call = asked.calls().next().expect("a call");
        let mut needed = Needed::default();
        let need = needed.numbers(call.call.needs())[0];
        assert!(matches!(needed.iter().next(), Some((_, Need::Windows { .. }))));
        let mut tallies = vec![Tally::default(); times.len()];
        for (tally, (_, _, window)) in tallies.iter_mut().zip(times) {
            window.iter().for_each(|held| tally.windows.entry(need).or_default().add(held.clone()));
        }
        note_crossings(&mut tallies, need);
        let segments = Segments {
            row_of: times.iter().map(|(row, ..)| Some(*row)).collect(),
            prices: times.iter().map(|(_, price, _)| vec![Some(*price)]).collect(),
            ..Segments::default()
        };
        let count = times.iter().map(|(row, ..)| row + 1).max().unwrap_or_default();
        let mut rows = vec![OfPrices::default(); count];
        Times { segments: &segments, tariff: 0 }.add_tallies(&tallies, &mut rows);
        let priced = question.priced().next().expect("a cost");
        let own = Counted { value: Ok(Value::exact(0.0)), count: 2, missing: 0 };
        let of = |row: &OfPrices| cost(call, priced, Some(row), own.clone(), &Meter).value.ok();
        rows.iter()
            .map(|row| {
                of(row).map(|value| {
                    assert_eq!(value.unit, "EUR");
                    let ((low, high), digits) = (value.ends(), 1e9);
                    ((low * digits).round() / digits, (high * digits).round() / digits)
                })
            })
            .collect()
    }

    #[test]
    fn an_increase_over_a_change_of_the_price_is_between_the_lowest_and_the_highest() {
        // 10 at 0.5; 4 between both; 6 at 2.
        let (night, day) = (held((0, 10.0), (9, 20.0), 0.0), held((10, 24.0), (19, 30.0), 0.0));
        let found = costs(&[(0, 0, Some(night.clone())), (0, 1, Some(day.clone()))]);
        assert_eq!(found, [Some((5.0 + 2.0 + 12.0, 5.0 + 8.0 + 12.0))]);
        // At one price nothing is open.
        let found = costs(&[(0, 0, Some(night.clone())), (0, 0, Some(day))]);
        assert_eq!(found, [Some((10.0, 10.0))]);
        // A gap over a whole time at another price: 10 at 0.5, 40 between both, 0.
        let later = held((100, 60.0), (109, 60.0), 0.0);
        let found = costs(&[(0, 0, Some(night.clone())), (0, 1, None), (0, 0, Some(later.clone()))]);
        assert_eq!(found, [Some((5.0 + 20.0, 5.0 + 80.0))]);
        // Over the end of a row, either may have it, or none.
        let found = costs(&[(0, 0, Some(night)), (1, 1, None), (1, 0, Some(later))]);
        assert_eq!(found, [Some((5.0, 5.0 + 20.0)), Some((0.0, 80.0))]);
    }

    #[test]
    fn the_rounding_of_readings_at_both_prices_is_in_the_bound() {
        let (night, day) = (held((0, 10.0), (9, 20.0), 0.5), held((10, 20.0), (19, 30.0), 0.5));
        let [Some((low, high))] = costs(&[(0, 0, Some(night)), (0, 1, Some(day))])[..] else {
            panic!("one row")
        };
        // Readings of 10.4, 20.4 and 20.4, 30 to one of 9.6, 19.6 and 19.6, 30.4.
        let ends = [(10.4, 20.4, 30.0), (9.6, 19.6, 30.4), (10.4, 19.6, 30.4), (9.6, 20.4, 29.6)];
        for (first, middle, last) in ends {
            let cost = 0.5 * (middle - first) + 2.0 * (last - middle);
            assert!(low <= cost && cost <= high, "{low} {cost} {high}");
        }
    }

    #[test]
    fn a_reading_over_a_change_of_the_price_may_cost_either() {
        let mut question = Question::parse("tariff(energy(x), t.toml)").expect("a question");
        question.attach_tariff("t.toml", &Tariff::parse(TARIFF).expect("a tariff"));
        let asked = Asked::new(&question);
        let call = asked.calls().next().expect("a call");
        let cut =
            Cut { first: Some(0), prices: Prices::from([Some(0), Some(1)]), range: (-2.0, 10.0), hours: 0.5 };
        let cut = BTreeMap::from([("x".to_owned(), vec![cut])]);
        let parts = OfPrices { cut, ..OfPrices::default() };
        let own = Counted { value: Ok(Value::exact(0.0)), count: 2, missing: 0 };
        let priced = question.priced().next().expect("a cost");
        struct Power;
        impl Channels for Power {
            fn unit(&self, _: &str) -> String {
                "W".to_owned()
            }
        }
        let found = cost(call, priced, Some(&parts), own, &Power).value.expect("a cost");
        // −2 W to 10 W for half an hour, at 1.5 more per kWh.
        let (low, high) = found.ends();
        assert!((low + 1.5 * 0.001).abs() < 1e-12 && (high - 7.5 * 0.001).abs() < 1e-12, "{low} {high}");
    }
}
