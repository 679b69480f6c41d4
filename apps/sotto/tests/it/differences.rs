//! Weighted sums whose weights have both signs.

use serde_json::Value;

use crate::late::{Plant, case};

const TEMP: [[&str; 5]; 1] = [["temp", "°C", "-40..100", "0.1", "1h"]];

fn row(plant: &Plant, question: &str) -> Value {
    plant.ask(question)["rows"][0].clone()
}

/// Checks the value of a question, to its bound and to `widest`.
fn is_right(plant: &Plant, question: &str, right: f64, widest: f64) {
    let row = row(plant, question);
    let (Some(value), Some(bound)) = (row["value"].as_f64(), row["bound"].as_f64()) else { panic!("{row}") };
    assert!((value - right).abs() <= bound && bound <= widest, "{question}: {row}, not {right}");
}

#[test]
fn the_case_of_a_difference_is_right() {
    let Some(case) = case("differences") else { return };
    let (plant, facts) = Plant::of_case(&case);
    let question = facts["ask"].as_str().unwrap();
    let right = facts["right"]["value"].as_f64().unwrap();
    is_right(&plant, question, right, 0.1001);
    assert!((row(&plant, question)["value"].as_f64().unwrap() - right).abs() < 1e-9);
    plant.has_no_notes(question);
}

/// Two days of which some readings are missing, on each side of the difference and on one.
#[test]
fn missing_readings_change_their_own_mean_alone() {
    let plant = Plant::new("UTC", &TEMP, "mean(temp) by day");
    let temperature = |day: u32, hour: u32| f64::from(10 * day + hour % 3);
    let there = |day: u32, hour: u32| match day {
        1 => hour >= 2,
        2 => !(5..9).contains(&hour),
        _ => hour < 12,
    };
    let mut text = "time,temp\n".to_owned();
    let mut days = [const { Vec::new() }; 3];
    for (day, all) in (1..).zip(&mut days) {
        for hour in (0..24).filter(|hour| there(day, *hour)) {
            let value = temperature(day, hour);
            text += &format!("2024-01-{day:02} {hour:02}:00,{value}\n");
            all.push(value);
        }
    }
    plant.send(&text);
    let [first, second, third] = days.map(|day| day.iter().sum::<f64>() / day.len() as f64);
    for (question, right, widest) in [
        ("weighted_sum(temp, [-1, 1]) since 2024-01-01 until 2024-01-03", second - first, 0.11),
        ("weighted_sum(temp, [1, -1]) since 2024-01-02 until 2024-01-04", second - third, 0.11),
        ("weighted_sum(temp, [-1, 1.001]) since 2024-01-01 until 2024-01-03", 1.001 * second - first, 0.12),
        ("weighted_sum(temp, [-2, 1]) since 2024-01-01 until 2024-01-03", second - 2.0 * first, 0.17),
    ] {
        is_right(&plant, question, right, widest);
    }
    assert_eq!(row(&plant, "weighted_sum(temp, [-1, 1]) since 2024-01-01 until 2024-01-03")["missing"], 6);
    // Two hours of which the first has no reading.
    let nothing = row(&plant, "weighted_sum(temp, [-1, 1]) since 2024-01-01 until 2024-01-01T04:00");
    assert!(nothing["value"].is_null(), "{nothing}");
    assert_eq!(nothing["why"], "the readings of all weights below 0 are missing");
}
