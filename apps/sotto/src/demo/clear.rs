//! The expected answers, computed in the clear from the readings that the agents logged. Shares no code with packing
//! and computing, so that the demo can compare the two.

use std::collections::BTreeMap;

use anyhow::Context;
use serde::Deserialize;

use super::question::Formula;

/// The readings of one device: streams by name.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct ClearLog(BTreeMap<String, Stream>);

#[derive(Debug, Deserialize)]
struct Stream {
    channels: Vec<Named>,
    /// For each tick, the value of each channel; None if the reading is missing.
    values: Vec<Vec<Option<f64>>>,
    /// Milliseconds since 1970.
    times: Vec<i64>,
}

#[derive(Debug, Deserialize)]
struct Named {
    name: String,
}

impl ClearLog {
    /// Readings of a channel with their times; streams have names such as `exact-5m`.
    fn readings(&self, stream: &str, channel: &str) -> anyhow::Result<Vec<(i64, f64)>> {
        let of_kind = |(name, _): &(&String, &Stream)| name.starts_with(stream);
        let (_, stream) =
            self.0.iter().find(of_kind).with_context(|| format!("no device read for {stream}"))?;
        let at = stream.channels.iter().position(|named| named.name == channel);
        let at = at.with_context(|| format!("no device read {channel}"))?;
        let value = |(time, row): (&i64, &Vec<Option<f64>>)| Some((*time, row.get(at).copied().flatten()?));
        Ok(stream.times.iter().zip(&stream.values).filter_map(value).collect())
    }
}

/// Returns the largest reading less the smallest, over all devices.
pub(super) fn spread(formula: &Formula, logs: &[&ClearLog]) -> anyhow::Result<f64> {
    let (mut low, mut high) = (f64::MAX, f64::MIN);
    for log in logs {
        for (_, value) in log.readings(formula.stream(), formula.channel())? {
            (low, high) = (low.min(value), high.max(value));
        }
    }
    Ok((high - low).max(0.0))
}

/// Returns the answer over the readings of these devices.
pub(super) fn value(formula: &Formula, logs: &[&ClearLog]) -> anyhow::Result<f64> {
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    for log in logs {
        let own = log.readings(formula.stream(), formula.channel())?;
        if let Formula::Covariance(_, y) | Formula::Correlation(_, y) = formula {
            // Only times at which both channels have a reading.
            let y: BTreeMap<i64, f64> = log.readings(formula.stream(), y)?.into_iter().collect();
            let both = own.into_iter().filter_map(|(at, x)| Some((at, x, *y.get(&at)?)));
            for (at, x, y) in both {
                xs.push((at, x));
                ys.push(y);
            }
        } else {
            xs.extend(own);
        }
    }
    anyhow::ensure!(!xs.is_empty(), "no device read {}", formula.channel());
    let x: Vec<f64> = xs.iter().map(|(_, x)| *x).collect();
    Ok(match formula {
        Formula::Mean(_) => mean(&x),
        Formula::Deviation(_) => covariance(&x, &x).sqrt(),
        Formula::Covariance(..) => covariance(&x, &ys),
        Formula::Correlation(..) => covariance(&x, &ys) / (covariance(&x, &x) * covariance(&ys, &ys)).sqrt(),
        Formula::Recent(_, half_life) => {
            let last = xs.iter().map(|(at, _)| *at).max().unwrap_or_default();
            let weights: Vec<f64> =
                xs.iter().map(|(at, _)| ((at - last) as f64 / half_life).exp2()).collect();
            let sum: f64 = weights.iter().zip(&x).map(|(w, x)| w * x).sum();
            sum / weights.iter().sum::<f64>()
        }
        Formula::Curve(_, [a, b, c]) => mean(&x.iter().map(|x| a + b * x + c * x * x).collect::<Vec<_>>()),
    })
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len() as f64
}

/// The population covariance: divided by the count.
fn covariance(x: &[f64], y: &[f64]) -> f64 {
    let (of_x, of_y) = (mean(x), mean(y));
    x.iter().zip(y).map(|(x, y)| (x - of_x) * (y - of_y)).sum::<f64>() / x.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn formulas_over_two_devices() {
        let log = |values: serde_json::Value, times: [i64; 2]| -> ClearLog {
            let stream =
                json!({"channels": [{"name": "x"}, {"name": "y"}], "values": values, "times": times});
            serde_json::from_value(json!({"exact-1s": stream, "real-1s": stream})).expect("a log")
        };
        let logs = [
            log(json!([[1.0, 2.0], [3.0, null]]), [0, 1000]),
            log(json!([[null, 5.0], [5.0, 4.0]]), [2000, 3000]),
        ];
        let logs: Vec<&ClearLog> = logs.iter().collect();
        let of = |formula: Formula| value(&formula, &logs).expect("a value");
        let (x, y) = (|| "x".to_owned(), || "y".to_owned());
        assert_eq!(of(Formula::Mean(x())), 3.0);
        assert_eq!(of(Formula::Deviation(x())), (8.0f64 / 3.0).sqrt());
        assert_eq!(of(Formula::Covariance(x(), y())), 2.0);
        assert!((of(Formula::Correlation(x(), y())) - 1.0).abs() < 1e-12);
        assert_eq!(of(Formula::Recent(x(), 1000.0)), (0.125 + 3.0 * 0.25 + 5.0) / 1.375);
        assert_eq!(of(Formula::Curve(x(), [1.0, 2.0, 3.0])), (6.0 + 34.0 + 86.0) / 3.0);
        assert!(value(&Formula::Mean("z".into()), &logs).is_err());
    }
}
