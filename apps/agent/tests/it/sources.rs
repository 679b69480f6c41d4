//! This machine's sensors as a source.

use sotto_agent::source::{Sensors, Source};
use sotto_agent::stop::Stop;
use sotto_pack::Period;

#[test]
fn sensors_give_what_they_declare_or_say_why_not() {
    let mut sensors = match Sensors::open(Period::from_milliseconds(1), Stop::new()) {
        Ok(sensors) => sensors,
        Err(reason) => {
            eprintln!("skipped: {reason}");
            return;
        }
    };
    let channels = sensors.channels().to_vec();
    assert!((1..=8).contains(&channels.len()));
    let mut last = i64::MIN;
    for _ in 0..3 {
        let row = sensors.next_row().unwrap();
        assert!(row.at > last);
        last = row.at;
        assert_eq!(row.values.len(), channels.len());
        for (value, channel) in row.values.iter().zip(&channels) {
            assert!(
                channel.unit != "%" || value.is_some_and(|value| (0.0..=100.0).contains(&value)),
                "{}",
                channel.name
            );
        }
    }
}
