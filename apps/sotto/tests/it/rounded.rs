//! Bounds of answers: only readings that are no whole multiple of the resolution are off.

use serde_json::Value;

use crate::late::Plant;

const CHANNELS: [[&str; 5]; 2] =
    [["heat", "kW", "0..100", "0.1", "1h"], ["flow", "l", "0..50", "0.25", "1h"]];
const RESULTS: &str = "sum(heat), mean(heat), variance(heat), stddev(heat), rms(heat), energy(heat), min(heat), max(heat), \
                       sum(flow), covariance(heat, flow), weighted_sum(heat, [1, -1])";
const HALF: f64 = 0.05;

/// Readings in thousandths, by hour. Of the first two days all are multiples of the resolutions, of the third one is none, of
/// the others some.
fn readings() -> Vec<[i64; 2]> {
    let mut state = 7_u64;
    let mut draw = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % most) as i64
    };
    let mut reading = |hour: usize| {
        let exact = [100 * draw(1000), 250 * draw(200)];
        match hour / 24 {
            0 | 1 => exact,
            2 => [exact[0] + i64::from(hour == 50) * 37, exact[1]],
            _ => [exact[0] + draw(2) * draw(100), exact[1] + draw(2) * draw(250)],
        }
    };
    (0..144).map(&mut reading).collect()
}

fn file(readings: &[[i64; 2]]) -> String {
    let decimal = |thousandths: i64| format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
    let row = |(hour, [heat, flow]): (usize, &[i64; 2])| {
        format!(
            "2024-01-{:02}T{:02}:00:00Z,{},{}\n",
            hour / 24 + 1,
            hour % 24,
            decimal(*heat),
            decimal(*flow)
        )
    };
    "time,heat,flow\n".to_owned() + &readings.iter().enumerate().map(row).collect::<String>()
}

/// Returns the exact value of a result.
fn exact(result: &str, readings: &[[i64; 2]]) -> f64 {
    let n = readings.len() as f64;
    let of = |column: usize| readings.iter().map(move |row| row[column] as f64 / 1000.0);
    let mean = |column| of(column).sum::<f64>() / n;
    let covariance = |x, y| of(x).zip(of(y)).map(|(a, b)| (a - mean(x)) * (b - mean(y))).sum::<f64>() / n;
    let half = readings.len() / 2;
    match result {
        "sum(heat)" | "energy(heat)" => of(0).sum(),
        "mean(heat)" => mean(0),
        "variance(heat)" => covariance(0, 0),
        "stddev(heat)" => covariance(0, 0).sqrt(),
        "rms(heat)" => (of(0).map(|x| x * x).sum::<f64>() / n).sqrt(),
        "min(heat)" => of(0).fold(f64::INFINITY, f64::min),
        "max(heat)" => of(0).fold(0.0, f64::max),
        "sum(flow)" => of(1).sum(),
        "covariance(heat, flow)" => covariance(0, 1),
        "weighted_sum(heat, [1, -1])" => {
            (of(0).take(half).sum::<f64>() - of(0).skip(half).sum::<f64>()) / half as f64
        }
        other => panic!("{other}"),
    }
}

fn rounded(readings: &[[i64; 2]]) -> u32 {
    readings.iter().map(|[heat, _]| u32::from(heat % 100 != 0)).sum()
}

/// Checks a row over these readings, of windows with these.
fn is_right(row: &Value, readings: &[[i64; 2]], windows: &[&[[i64; 2]]]) {
    let result = row["name"].as_str().unwrap();
    let (value, bound) = (row["value"].as_f64().unwrap(), row["bound"].as_f64().unwrap());
    let right = exact(result, readings);
    assert!((value - right).abs() <= bound + 1e-9, "{row}, not {right}");
    // Every reading of every channel of the result is a multiple.
    let is_multiple = |[heat, flow]: &[i64; 2]| {
        !(result.contains("heat") && heat % 100 != 0 || result.contains("flow") && flow % 250 != 0)
    };
    assert_eq!(bound < 1e-9, windows.iter().copied().flatten().all(is_multiple), "{row}");
    if result == "sum(heat)" {
        // Of a part of a window, as many as it has readings.
        let used = readings.len() / windows.len();
        let most: u32 = windows.iter().map(|window| rounded(window).min(used as u32)).sum();
        assert!((bound - HALF * f64::from(most)).abs() < 1e-9, "{row}, not of {most}");
    }
}

#[test]
fn bounds_hold_and_are_those_of_the_readings_that_were_rounded() {
    let plant = Plant::new("UTC", &CHANNELS, &format!("{RESULTS} by day"));
    let readings = readings();
    plant.send(&file(&readings));
    let days: Vec<&[[i64; 2]]> = readings.chunks(24).collect();
    let answer = plant.ask(&format!("{RESULTS} by day"));
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 11 * days.len());
    for row in rows {
        let day: usize = row["from"].as_str().unwrap()[8..10].parse().unwrap();
        is_right(row, days[day - 1], &days[day - 1..day]);
    }
    let answer = plant.ask(RESULTS);
    answer["rows"].as_array().unwrap().iter().for_each(|row| is_right(row, &readings, &days));
    // Half of each of these days.
    for day in 2..6 {
        let (from, to) = (24 * day + 6, 24 * day + 18);
        let time = |hour: usize| format!("2024-01-{:02}T{:02}:00:00", hour / 24 + 1, hour % 24);
        let answer = plant.ask(&format!("{RESULTS} since {} until {}", time(from), time(to)));
        answer["rows"]
            .as_array()
            .unwrap()
            .iter()
            .for_each(|row| is_right(row, &readings[from..to], &days[day..=day]));
    }
}
