//! Small answers for tests.

use sotto_owner::{Answer, Assurance, Row};

/// The beginning of the first hour: 2014-01-31T00:00:00+01:00.
const START: i64 = 1_391_122_800_000;
const HOUR: i64 = 3_600_000;

/// Returns an answer with these rows.
pub(crate) fn answer(rows: Vec<Row>) -> Answer {
    Answer {
        version: sotto_owner::VERSION,
        question: "mean(t) by hour".to_owned(),
        rows,
        bytes_up: 1_234_567,
        bytes_down: 4096,
        seconds: 0.25,
        windows: 3,
        jobs: 2,
        cached: 0,
        evaluate_us: 1500,
        scheme: None,
        schemes: ["BFV".to_owned()].into(),
        took_part: std::collections::BTreeMap::new(),
        faulty: std::collections::BTreeMap::new(),
        unchecked: std::collections::BTreeSet::new(),
        holds_unchecked: false,
        repeat_bytes: 0,
        flooded: None,
        steps: [("add".to_owned(), 7)].into(),
        logs: std::collections::BTreeMap::new(),
        left_out: [].into(),
        complete: Vec::new(),
        empty: None,
        notes: Vec::new(),
        time_zone: "Europe/Zurich".to_owned(),
        repeated: None,
        evidence: sotto_owner::Evidence::default(),
        phases: [].into(),
    }
}

/// Returns a row of the hour `at`, with six readings if it has a value.
pub(crate) fn row(name: &str, device: Option<&str>, at: i64, value: Option<f64>, bound: f64) -> Row {
    let text = |hour: i64| match hour / 24 {
        0 => format!("2014-01-31T{hour:02}:00:00+01:00"),
        day => format!("2014-02-{day:02}T{:02}:00:00+01:00", hour % 24),
    };
    Row {
        rank: None,
        tag: None,
        from: text(at),
        to: text(at + 1),
        device: device.map(str::to_owned),
        name: name.to_owned(),
        value,
        bound: value.map(|_| bound),
        unit: "°C".to_owned(),
        count: if value.is_some() { 6 } else { 0 },
        missing: 0,
        assurance: Assurance::Authenticated,
        held_back: false,
        why: None,
        bin: None,
        interpolated: false,
        recurs: None,
        at: None,
        at_ms: None,
        from_ms: START + at * HOUR,
        to_ms: START + (at + 1) * HOUR,
    }
}

/// Returns exact rows, one an hour.
pub(crate) fn hourly(name: &str, values: &[Option<f64>]) -> Vec<Row> {
    (0..).zip(values).map(|(at, value)| row(name, None, at, *value, 0.0)).collect()
}
