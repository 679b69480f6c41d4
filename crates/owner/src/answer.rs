//! Answers: rows with values, bounds and units, and the cost in bytes and time.

mod compared;

use std::collections::{BTreeMap, BTreeSet};

use crate::question::{Arithmetic, Call, Devices, Expression, Question, Reading};
use serde::{Deserialize, Serialize};
use sotto_pack::LeftOut;

use crate::ask::{Group, Reals, Tally};
use crate::flooding::Flooded;
use crate::moments::Pair;
use crate::settings::Settings;
use crate::trust::Evidence;
use crate::value::{Value, ValueError, product, ratio, squared};

/// The version of the JSON form.
pub const VERSION: u32 = 1;

/// An answer to a question. Its JSON form is for programs: later versions may add fields, but change none.
///
/// ```
/// use sotto_owner::Answer;
///
/// let json = r#"{
///     "version": 1, "question": "mean(temperature)", "time_zone": "Europe/Rome", "notes": [],
///     "rows": [{
///         "from": "2014-01-31T00:00:00+01:00", "to": "2014-02-01T00:00:00+01:00", "device": "boiler",
///         "name": "mean(temperature)", "value": 71.25, "bound": 0.05, "unit": "°C", "count": 287, "missing": 1
///     }],
///     "bytes_up": 2048, "bytes_down": 512, "seconds": 0.2, "windows": 1, "jobs": 1, "evaluate_us": 150,
///     "steps": {}, "left_out": {}
/// }"#;
/// let answer: Answer = serde_json::from_str(json)?;
/// assert_eq!((answer.rows[0].value, answer.rows[0].bound), (Some(71.25), Some(0.05)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The version of the form: [`VERSION`].
    pub version: u32,
    /// The question's text.
    pub question: String,
    /// One row for each group, device and result.
    pub rows: Vec<Row>,
    /// Bytes that devices sent for the windows used.
    pub bytes_up: u64,
    /// Bytes of ciphertexts downloaded from the cloud.
    pub bytes_down: u64,
    /// Seconds from the question to the answer.
    pub seconds: f64,
    /// Number of windows used.
    pub windows: u64,
    /// Number of jobs that the cloud ran.
    pub jobs: u64,
    /// The cloud's computing time in microseconds.
    pub evaluate_us: u64,
    /// Number of runs of each operation in the cloud.
    pub steps: BTreeMap<String, u64>,
    /// The schemes of the ciphertexts used.
    #[serde(default)]
    pub schemes: BTreeSet<String>,
    /// Number of windows used, by device.
    #[serde(default)]
    pub took_part: BTreeMap<String, u64>,
    /// The flooding of reals at decryption; None if the question is not `shared` or has no reals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flooded: Option<Flooded>,
    /// Readings that devices left out of the windows used, by channel and reason.
    pub left_out: BTreeMap<String, LeftOut>,
    /// Remarks for the reader, e.g. on windows that were not used.
    pub notes: Vec<String>,
    /// The time zone of the rows.
    pub time_zone: String,
    /// Times of the owner's and the cloud's phases, in microseconds.
    #[serde(skip)]
    pub phases: BTreeMap<&'static str, Vec<f64>>,
    /// The transcripts of the cloud's work, with everything needed to repeat it.
    #[serde(skip)]
    pub evidence: Evidence,
}

/// One result for one group.
///
/// Example: [`Answer`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Start of the group, as RFC 3339.
    pub from: String,
    /// End of the group.
    pub to: String,
    /// The device; None if the result is over several devices.
    pub device: Option<String>,
    /// The result's name.
    pub name: String,
    /// The value; None if there is no reading, or the value cannot be determined.
    pub value: Option<f64>,
    /// The largest possible distance of the true value.
    pub bound: Option<f64>,
    /// The unit.
    pub unit: String,
    /// Number of readings in the value.
    pub count: u64,
    /// Number of missing readings between the device's first and last window.
    pub missing: u64,
    /// The reason for a missing value, if there are readings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The ends of a histogram's bin, in the channel's unit. A reading at an end belongs to the bin above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bin: Option<[f64; 2]>,
    /// Start of the group, in milliseconds since 1970.
    #[serde(skip)]
    pub from_ms: i64,
    /// End of the group, in milliseconds since 1970.
    #[serde(skip)]
    pub to_ms: i64,
}

/// The cost of an answer: bytes, jobs and time.
pub(crate) struct Cost {
    pub(crate) bytes_up: u64,
    pub(crate) bytes_down: u64,
    pub(crate) seconds: f64,
    pub(crate) evaluate_us: u64,
    pub(crate) jobs: u64,
    pub(crate) windows: u64,
    pub(crate) schemes: BTreeSet<String>,
    pub(crate) took_part: BTreeMap<String, u64>,
    pub(crate) flooded: Option<Flooded>,
}

impl Answer {
    pub(crate) fn with_evidence(self, evidence: Evidence) -> Self {
        Self { evidence, ..self }
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn new(
        question: &Question,
        rows: Vec<Row>,
        cost: &Cost,
        left_out: BTreeMap<String, LeftOut>,
        steps: BTreeMap<String, u64>,
        phases: BTreeMap<&'static str, Vec<f64>>,
        notes: Vec<String>,
        clock: &sotto_pack::Clock,
    ) -> Self {
        let dated = |row: Row| Row { from: clock.rfc3339(row.from_ms), to: clock.rfc3339(row.to_ms), ..row };
        Self {
            version: VERSION,
            question: question.to_string(),
            rows: rows.into_iter().map(dated).collect(),
            bytes_up: cost.bytes_up,
            bytes_down: cost.bytes_down,
            seconds: cost.seconds,
            windows: cost.windows,
            jobs: cost.jobs,
            evaluate_us: cost.evaluate_us,
            steps,
            schemes: cost.schemes.clone(),
            took_part: cost.took_part.clone(),
            flooded: cost.flooded,
            left_out,
            notes,
            time_zone: clock.name().to_owned(),
            phases,
            evidence: Evidence::default(),
        }
    }
}

/// Returns the rows of an answer, group after group. `tallies` has one list per device.
pub(crate) fn rows(
    question: &Question,
    groups: &[Group],
    devices: &[String],
    tallies: &[Vec<Tally>],
    settings: &Settings,
) -> Vec<Row> {
    // One list of tallies per column: one column for each device, or one for all devices together.
    let mut columns: Vec<(Option<String>, Vec<Tally>)> = Vec::new();
    match question.grouping {
        Devices::Each => {
            for (device, tallies) in devices.iter().zip(tallies) {
                columns.push((Some(device.clone()), tallies.clone()));
            }
        }
        Devices::Across => {
            let mut all = vec![Tally::default(); groups.len()];
            for tallies in tallies {
                all.iter_mut().zip(tallies).for_each(|(all, tally)| all.merge(tally));
            }
            columns.push((None, all));
        }
    }
    let mut rows = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        for (device, tallies) in &columns {
            for selected in &question.select {
                let reader = Reader { tallies, at, settings };
                let row = Row {
                    from: String::new(),
                    to: String::new(),
                    device: device.clone(),
                    name: selected.name(),
                    value: None,
                    bound: None,
                    unit: String::new(),
                    count: 0,
                    missing: 0,
                    why: None,
                    bin: None,
                    from_ms: group.from,
                    to_ms: group.to,
                };
                reader.rows(&selected.expression, row, &mut rows);
            }
        }
    }
    rows
}

/// Computes results from the tallies of one column.
struct Reader<'t> {
    tallies: &'t [Tally],
    at: usize,
    settings: &'t Settings,
}

/// A value and its number of readings.
struct Counted {
    value: Result<Value, ValueError>,
    unit: String,
    count: u64,
    missing: u64,
}

impl Reader<'_> {
    fn unit(&self, channel: &str) -> String {
        self.settings.channels.get(channel).map(|settings| settings.unit.clone()).unwrap_or_default()
    }

    fn rows(&self, expression: &Expression, row: Row, rows: &mut Vec<Row>) {
        match expression {
            Expression::Call(Call::Values(reading)) => {
                let empty = Reals::default();
                let reals = self.tallies[self.at].reals.get(&reading.to_string()).unwrap_or(&empty);
                let mut each = reals.each.clone();
                each.sort_by_key(|(from, ..)| *from);
                if each.is_empty() {
                    rows.push(row);
                    return;
                }
                for (index, (from, to, value, bound)) in each.into_iter().enumerate() {
                    rows.push(Row {
                        name: format!("{}[{index}]", row.name),
                        value: Some(value),
                        bound: Some(bound),
                        count: 1,
                        from_ms: from,
                        to_ms: to,
                        ..row.clone()
                    });
                }
            }
            Expression::Call(Call::Regression { y, x }) => {
                let units = [self.unit(x), self.unit(y)];
                let pair = self.pair(x, y);
                let missing = self.missing_pairs(x, y, &pair);
                let [x_unit, y_unit] = &units;
                let line = pair.regression([x_unit, y_unit]);
                for (index, (part, unit)) in
                    [("slope", ratio(y_unit, x_unit)), ("intercept", y_unit.clone())].into_iter().enumerate()
                {
                    let value = line.clone().map(|line| line[index].clone());
                    let counted = Counted { value, unit, count: pair.x.count, missing };
                    rows.push(counted.row(Row { name: format!("{}.{part}", row.name), ..row.clone() }));
                }
            }
            Expression::Call(Call::Histogram { channel, bins }) => self.histogram(channel, bins, &row, rows),
            expression => {
                let mut fold = Fold { reader: self, count: None, missing: 0 };
                let value = expression.fold(&mut fold);
                let unit = unit_of(expression, |channel| self.unit(channel)).unwrap_or_default();
                let (count, missing) = (fold.count.unwrap_or_default(), fold.missing);
                rows.push(Counted { value, unit, count, missing }.row(row));
            }
        }
    }

    /// Returns the pair of two channels in the given order. Tallies store the smaller name first.
    fn pair(&self, x: &str, y: &str) -> Pair {
        let ordered = x <= y;
        let key = if ordered { (x.to_owned(), y.to_owned()) } else { (y.to_owned(), x.to_owned()) };
        let pair = self.tallies[self.at].pairs.get(&key).copied().unwrap_or_default();
        if ordered { pair } else { pair.swapped() }
    }

    /// Returns the number of missing readings of the channel that lacks most.
    fn missing(&self, channels: &[&str]) -> u64 {
        let tally = &self.tallies[self.at];
        let of = |channel: &&str| {
            let expected = tally.expected.get(*channel).copied().unwrap_or_default();
            let there = tally.channels.get(*channel).map(|moments| moments.count);
            there.map_or(expected, |there| expected.saturating_sub(there))
        };
        channels.iter().map(of).max().unwrap_or_default()
    }

    /// Returns the number of ticks at which one of two channels lacks a reading.
    fn missing_pairs(&self, x: &str, y: &str, pair: &Pair) -> u64 {
        let expected = &self.tallies[self.at].expected;
        let most = [x, y].into_iter().filter_map(|name| expected.get(name)).max().copied();
        most.unwrap_or_default().saturating_sub(pair.x.count)
    }

    fn call(&self, call: &Call) -> Counted {
        let tally = &self.tallies[self.at];
        let unit_of = |channel: &str| self.unit(channel);
        let none = || ValueError::Undetermined("there is no reading");
        if let Some(reading) = call.reading().filter(|reading| !matches!(reading, Reading::Channel(_))) {
            let channels = call.channels();
            let expected = channels.iter().filter_map(|name| tally.expected.get(*name)).max().copied();
            if let Some(condition) = call.condition() {
                return self.condition(call, condition, expected.unwrap_or_default());
            }
            let empty = Reals::default();
            let reals = tally.reals.get(&reading.to_string()).unwrap_or(&empty);
            let n = reals.count as f64;
            let unit = String::new();
            let value = match call {
                Call::Count(_) => Ok(Value::exact(n)),
                _ if reals.count == 0 => Err(none()),
                Call::Sum(_) => Ok(Value { value: reals.sum, bound: reals.bound, unit: unit.clone() }),
                _ => Ok(Value { value: reals.sum / n, bound: reals.bound / n, unit: unit.clone() }),
            };
            let missing = expected.unwrap_or_default().saturating_sub(reals.count);
            return Counted { value, unit, count: reals.count, missing };
        }
        if let Call::Covariance { x, y } | Call::Correlation { x, y } = call {
            let (pair, units) = (self.pair(x, y), [unit_of(x), unit_of(y)]);
            let missing = self.missing_pairs(x, y, &pair);
            let (value, unit) = match call {
                Call::Correlation { .. } => (pair.correlation(), String::new()),
                _ => (pair.covariance([&units[0], &units[1]]), product(&units[0], &units[1])),
            };
            return Counted { value, unit, count: pair.x.count, missing };
        }
        let channels = call.channels();
        let channel = channels.first().copied().unwrap_or_default();
        let unit = unit_of(channel);
        if let Call::WeightedSum { .. } = call {
            let weighted = tally.weighted.get(&call.to_string()).copied().unwrap_or_default();
            let expected = tally.expected.get(channel).copied().unwrap_or_default();
            let missing = expected.saturating_sub(weighted.count);
            return Counted { value: weighted.value(&unit), unit, count: weighted.count, missing };
        }
        if let Call::MovingAverage { groups, .. } = call {
            return self.moving_average(channel, *groups, unit);
        }
        if call.compares() {
            return self.compared(call, channel, unit);
        }
        let moments = tally.channels.get(channel).copied().unwrap_or_default();
        let (value, unit) = match call {
            Call::Count(_) => (Ok(Value::exact(moments.count as f64)), String::new()),
            Call::Sum(_) => (moments.sum(&unit), unit),
            Call::Variance(_) => (moments.variance(&unit), squared(&unit)),
            Call::Stddev(_) => (moments.deviation(&unit), unit),
            Call::Rms(_) => (moments.root_mean_square(&unit), unit),
            Call::Energy(_) => {
                let unit = product(&unit, "h");
                let (value, bound) = tally.energy.get(channel).copied().unwrap_or_default();
                let value = if moments.count == 0 {
                    Err(none())
                } else {
                    Ok(Value { value, bound, unit: unit.clone() })
                };
                (value, unit)
            }
            _ => (moments.mean(&unit), unit),
        };
        Counted { value, unit, count: moments.count, missing: self.missing(&[channel]) }
    }

    /// Returns the mean over this group and the `groups − 1` before it. Undetermined if there are fewer groups.
    fn moving_average(&self, channel: &str, groups: u32, unit: String) -> Counted {
        let first = (self.at + 1).checked_sub(groups as usize);
        let mut all = Tally::default();
        for tally in &self.tallies[first.unwrap_or_default()..=self.at] {
            all.merge(tally);
        }
        let moments = all.channels.get(channel).copied().unwrap_or_default();
        let early = || ValueError::Undetermined("there are fewer groups before it than it averages");
        let value = first.ok_or_else(early).and_then(|_| moments.mean(&unit));
        let expected = all.expected.get(channel).copied().unwrap_or_default();
        Counted { value, unit, count: moments.count, missing: expected.saturating_sub(moments.count) }
    }
}

impl Counted {
    fn row(self, row: Row) -> Row {
        let row = Row { unit: self.unit, count: self.count, missing: self.missing, ..row };
        match self.value {
            Ok(value) if value.value.is_finite() && value.bound.is_finite() => {
                Row { value: Some(value.value), bound: Some(value.bound), unit: value.unit, ..row }
            }
            Ok(_) => Row { why: Some("the value is too large to be told".to_owned()), ..row },
            Err(_) if row.count == 0 => row,
            Err(error) => Row { why: Some(error.to_string()), ..row },
        }
    }
}

/// Arithmetic on results: values, counts and missing readings.
struct Fold<'r, 't> {
    reader: &'r Reader<'t>,
    count: Option<u64>,
    missing: u64,
}

impl Arithmetic for Fold<'_, '_> {
    type Value = Value;
    type Error = ValueError;

    fn number(&mut self, number: f64) -> Result<Value, ValueError> {
        Ok(Value::exact(number))
    }

    fn call(&mut self, call: &Call) -> Result<Value, ValueError> {
        let counted = self.reader.call(call);
        self.count = Some(self.count.map_or(counted.count, |count| count.min(counted.count)));
        self.missing = self.missing.max(counted.missing);
        counted.value
    }

    fn negate(&mut self, of: Value) -> Result<Value, ValueError> {
        Ok(of.negated())
    }

    fn add(&mut self, left: Value, right: Value) -> Result<Value, ValueError> {
        left.plus(&right)
    }

    fn subtract(&mut self, left: Value, right: Value) -> Result<Value, ValueError> {
        left.plus(&right.negated())
    }

    fn multiply(&mut self, left: Value, right: Value) -> Result<Value, ValueError> {
        Ok(left.times(&right))
    }

    fn divide(&mut self, left: Value, right: Value) -> Result<Value, ValueError> {
        left.over(&right)
    }
}

/// Arithmetic on units alone.
struct Units<'u, U>(&'u U);

impl<U: Fn(&str) -> String> Arithmetic for Units<'_, U> {
    type Value = Value;
    type Error = ValueError;

    fn number(&mut self, _: f64) -> Result<Value, ValueError> {
        Ok(Value::exact(1.0))
    }

    fn call(&mut self, call: &Call) -> Result<Value, ValueError> {
        let channels = call.channels();
        let of = |at: usize| channels.get(at).map(|channel| (self.0)(channel)).unwrap_or_default();
        let real = call.reading().is_some_and(|reading| !matches!(reading, Reading::Channel(_)));
        let unit = match call {
            Call::TimeWhere(_) => "h".to_owned(),
            _ if real => String::new(),
            Call::Count(_) | Call::CountWhere(_) | Call::Correlation { .. } => String::new(),
            Call::Variance(_) => squared(&of(0)),
            Call::Energy(_) => product(&of(0), "h"),
            Call::Covariance { .. } => product(&of(0), &of(1)),
            _ => of(0),
        };
        Ok(Value { unit, ..Value::exact(1.0) })
    }

    fn negate(&mut self, of: Value) -> Result<Value, ValueError> {
        Ok(of)
    }

    fn add(&mut self, left: Value, right: Value) -> Result<Value, ValueError> {
        let unit = crate::value::common(&left.unit, &right.unit)?;
        Ok(Value { unit, ..Value::exact(1.0) })
    }

    fn subtract(&mut self, left: Value, right: Value) -> Result<Value, ValueError> {
        self.add(left, right)
    }

    fn multiply(&mut self, left: Value, right: Value) -> Result<Value, ValueError> {
        Ok(left.times(&right))
    }

    fn divide(&mut self, left: Value, right: Value) -> Result<Value, ValueError> {
        left.over(&right)
    }
}

/// Returns the unit of a result.
///
/// # Errors
/// [`ValueError::Units`] if results with different units are added.
pub(crate) fn unit_of(expression: &Expression, unit: impl Fn(&str) -> String) -> Result<String, ValueError> {
    if let Expression::Call(Call::Regression { .. } | Call::Values(_) | Call::Histogram { .. }) = expression {
        return Ok(String::new());
    }
    expression.fold(&mut Units(&unit)).map(|value| value.unit)
}
