//! Conditions of alarms: text that reads back, places of errors, the questions that decide.

use proptest::prelude::*;
use sotto_owner::question::{Alarm, Call, Comparison, Condition, Expression, Measurand, Measured};

#[test]
fn each_form_is_read_and_written() {
    for (text, canonical, question) in [
        ("temperature > 80", "", "count(temperature > 80)"),
        ("temperature>80 for 1 window", "temperature > 80", "count(temperature > 80)"),
        ("temperature < -5 for 3 windows", "", "count(temperature < -5)"),
        ("\"flow rate\" >= 2 where device in (pump)", "", "count(\"flow rate\" >= 2)"),
        ("mean(x) > 80", "", "mean(x)"),
        ("count(x > 80) >= 5 for 2 windows", "", "count(x > 80)"),
        ("max(x) - min(x) > 10", "", "max(x) - min(x)"),
        ("max(x) > 80", "", "count(x > 80)"),
        ("max(x) < 80", "", "count(x >= 80)"),
        ("min(x) <= 3", "", "count(x <= 3)"),
        ("min(x) >= 3", "", "count(x < 3)"),
        ("median(x) > 1e3", "quantile(x, 0.5) > 1000", "quantile(x, 0.5)"),
        (
            "x > 1 where device in (a, b) per device for 2 windows",
            "x > 1 for 2 windows where device in (a, b)",
            "count(x > 1)",
        ),
        ("(mean(a) + mean(b)) / 2 > 3", "", "(mean(a) + mean(b)) / 2"),
        ("linear(power.json) > 400 for 2 windows", "", "count(linear(power.json) > 400)"),
        ("polynomial(x, [0, 1, 2]) <= 3", "", "count(polynomial(x, [0, 1, 2]) <= 3)"),
        ("count(linear(m.json) > 4) >= 10", "", "count(linear(m.json) > 4)"),
    ] {
        let alarm = Alarm::parse(text).unwrap_or_else(|refused| panic!("{refused}"));
        let canonical = if canonical.is_empty() { text } else { canonical };
        assert_eq!(alarm.to_string(), canonical);
        let only = canonical.find(" where").map_or("", |at| &canonical[at..]);
        assert_eq!(alarm.question(None).to_string(), format!("{question} by window per device{only}"));
        alarm.question(Some(0.0)).check().unwrap();
    }
}

#[test]
fn each_error_points_at_its_place() {
    for (text, column, word) in [
        ("", 1, "compares with a number"),
        ("temperature", 12, "temperature > 80"),
        ("mean(x)", 8, "mean(x) > 80"),
        ("temperature >", 14, "a number"),
        ("temperature > mean(x)", 15, "mean(a) - mean(b) > 0"),
        ("mean(a) > 2 * mean(b)", 11, "mean(a) - mean(b) > 0"),
        ("temperature ! 80", 13, "write !="),
        ("meen(x) > 3", 1, "did you mean mean?"),
        ("temperature - 5 > 80", 1, "mean(temperature)"),
        ("80 > 3", 1, "no statistic"),
        ("histogram(x, 16) > 3", 1, "count(x > 80) >= 5"),
        ("moving_average(x, 3) > 3", 1, "for 3 windows"),
        ("polynomial(x, [0, 1]) + 1 > 3", 1, "polynomial"),
        ("polynomial(x, [0, 1])", 22, "polynomial(x, [0, 1]) > 80"),
        ("x > 3 for 0 windows", 11, "from 1 to 1000"),
        ("x > 3 for 1001 windows", 11, "from 1 to 1000"),
        ("x > 3 for 3", 12, "for 3 windows"),
        ("x > 3 for 3 days", 13, "windows"),
        ("x > 3 for 3 windows for 2 windows", 21, "second for"),
        ("x > 3 by day", 7, "no clause of an alarm"),
        ("x > 3 across devices", 7, "each device"),
        ("x > 3, y > 4", 6, "for 3 windows"),
        ("x > inf", 5, "finite"),
        ("where > 3", 1, "in quotes"),
    ] {
        let refused = match Alarm::parse(text) {
            Err(refused) => refused,
            Ok(alarm) => panic!("{text} is read as {alarm}"),
        };
        assert_eq!(refused.column, column, "{refused}");
        assert!(refused.to_string().contains(word), "{refused}");
    }
}

#[test]
fn limits_that_end_an_alarm_are_on_its_quiet_side() {
    for (text, clear, quiet) in
        [("x > 80", 75.0, true), ("x >= 80", 80.0, true), ("x > 80", 81.0, false), ("x < 3", 4.0, true)]
    {
        assert_eq!(Alarm::parse(text).unwrap().clears_at(clear), quiet, "{text} {clear}");
    }
}

fn measured() -> impl Strategy<Value = Measured> {
    let channel = "[A-Za-z_][A-Za-z0-9_.]{0,6}|\\PC{1,6}";
    prop_oneof![
        channel.prop_map(|channel| Measured::Reading(channel.into())),
        channel.prop_map(|channel| Measured::Reading(Measurand::polynomial(channel, [1.0, 0.0, 2.5]))),
        "[a-z]{1,6}".prop_map(|file| Measured::Reading(Measurand::linear(file))),
        (channel, -9i32..9, 0..4).prop_map(|(channel, number, operator)| {
            let (left, right) = (Expression::from(Call::mean(channel.clone())), f64::from(number));
            Measured::Value(match operator {
                0 => left + right,
                1 => -left,
                2 => left * Call::max(channel),
                _ => Call::count_where(Condition::new(channel, Comparison::Less, right)).into(),
            })
        }),
    ]
}

proptest! {
    #[test]
    fn text_and_json_say_the_same(
        measured in measured(), comparison in prop::sample::select(&Comparison::ALL[..]), limit in -1e6..1e6f64,
        windows in 1..=1000u32, only in any::<bool>(),
    ) {
        let only = only.then(|| vec!["a".to_owned(), "b c".to_owned()]);
        let alarm = Alarm { measured, comparison, limit, windows, only };
        let text = alarm.to_string();
        let read = Alarm::parse(&text).unwrap_or_else(|refused| panic!("{text}\n{refused}"));
        prop_assert_eq!(&read, &alarm);
        let json = serde_json::to_string(&alarm).unwrap();
        prop_assert_eq!(serde_json::from_str::<Alarm>(&json).unwrap(), alarm);
    }

    #[test]
    fn random_texts_never_panic(text in "[a-z(]{0,4}[ x()><=0-9.-]{0,12}(for|where|per)?[ 0-9a-z(]{0,9}|\\PC{0,40}") {
        if let Ok(alarm) = Alarm::parse(&text) {
            prop_assert_eq!(Alarm::parse(&alarm.to_string()), Ok(alarm));
        }
    }
}
