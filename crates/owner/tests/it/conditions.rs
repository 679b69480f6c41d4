//! Conditions of alarms: text that reads back, places of errors, the questions that decide.

use proptest::prelude::*;
use sotto_owner::question::{
    Alarm, AlarmCondition, Call, Comparison, Condition, Duration, DurationUnit, Expression, Measurand,
    Measured, Silence,
};

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
        ("temperature > 80 for 3h", "", "count(temperature > 80)"),
        ("mean(x) > 80 where device in (a) for 90m", "mean(x) > 80 for 90m where device in (a)", "mean(x)"),
        ("coverage(x) < 0.5 for 2 windows", "", "coverage(x)"),
        ("share(x > 80) > 0.5", "", "share(x > 80)"),
        ("count(60 <= x <= 79) < 3", "", "count(60 <= x <= 79)"),
        ("silent > 80", "", "count(silent > 80)"),
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
        ("difference(mean(x)) > 3", 1, "for 3 windows"),
        ("degree_days(x, below 18) > 3", 1, "take mean(x)"),
        ("mean(x) offset 1w > 3", 9, "take the call alone"),
        ("share(x > 80)", 14, "share(x > 80) > 80"),
        ("longest(x > 80) > 3", 1, "x > 80 for 3h"),
        ("episodes(x > 80) > 3", 1, "count(x > 80) >= 5"),
        ("last(x) > 3", 1, "x > 80"),
        ("correlation(a of one, b of two) > 0.5", 1, "each device by itself"),
        ("max(a - b) > 3", 1, "mean(a) - mean(b) > 5"),
        ("degree_hours(x, below 18) > 3", 1, "mean(x) < 18"),
        ("interpolate(x) > 3", 1, "x > 80"),
        ("spectrum(x, 8) > 3", 1, "stddev(x)"),
        ("time_of_max(x) > 3", 1, "max(x)"),
        ("polynomial(x, [0, 1]) + 1 > 3", 1, "polynomial"),
        ("polynomial(x, [0, 1])", 22, "polynomial(x, [0, 1]) > 80"),
        ("x > 3 for 0 windows", 11, "from 1 to 1000"),
        ("x > 3 for 1001 windows", 11, "from 1 to 1000"),
        ("x > 3 for 3", 12, "for 3 windows"),
        ("x > 3 for 3 days", 13, "a time is written for 3h"),
        ("x > 3 for 3h for 2 windows", 14, "second for"),
        ("x > 3 for 0h", 11, "as in for 90m"),
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

#[test]
fn a_silence_is_about_a_device_or_a_channel() {
    for (text, canonical, channel, seconds) in [
        ("silent for 3h", "", None, 10_800),
        ("silent for 90m where device in (pump)", "", None, 5400),
        ("per device silent for 1d", "refused", None, 0),
        ("silent per device for 2d", "silent for 2d", None, 172_800),
        ("temperature silent for 3h", "", Some("temperature"), 10_800),
        ("silent(temperature) for 3h", "temperature silent for 3h", Some("temperature"), 10_800),
        ("\"flow rate\" silent for 3h", "", Some("flow rate"), 10_800),
        ("silent silent for 3h", "", Some("silent"), 10_800),
    ] {
        if canonical == "refused" {
            assert!(AlarmCondition::parse(text).is_err(), "{text}");
            continue;
        }
        let read: Silence = text.parse().unwrap_or_else(|refused| panic!("{refused}"));
        assert_eq!((read.channel.as_deref(), read.time.seconds()), (channel, seconds), "{text}");
        assert_eq!(read.to_string(), if canonical.is_empty() { text } else { canonical });
    }
}

#[test]
fn words_of_other_tools_lead_to_silent() {
    for (text, column, says) in [
        ("silent", 7, "for and a duration"),
        ("silent for 3 windows", 12, "measured in time"),
        ("temperature silent", 19, "for and a duration"),
        ("temperature silent for 0h", 24, "measured in time"),
        ("temperature silnt for 3h", 13, "called silent, not silnt"),
        ("temperature absent for 3h", 13, "called silent, not absent"),
        ("absent(temperature) for 3h", 1, "temperature silent for 3h"),
        ("no data for 3h", 1, "called silent, not no"),
        ("deadman for 3h", 1, "called silent, not deadman"),
        ("offline for 3h", 1, "silent for 3h"),
        ("unavailable", 1, "silent for 3h"),
        ("silent for 3h for 2h", 15, "second for"),
        ("silent for 3h by day", 15, "no clause of an alarm"),
        ("silent(temperature for 3h", 20, "')'"),
    ] {
        let refused = match AlarmCondition::parse(text) {
            Err(refused) => refused,
            Ok(condition) => panic!("{text} is read as {condition}"),
        };
        assert_eq!(refused.column, column, "{refused}");
        assert!(refused.to_string().contains(says), "{refused}");
    }
    // A channel may have such a name.
    for text in ["missing > 3", "absent silent for 3h", "offline >= 1 for 2h"] {
        assert_eq!(AlarmCondition::parse(text).unwrap().to_string(), text);
    }
}

fn time() -> impl Strategy<Value = Duration> {
    (1u32..400, prop::sample::select(&DurationUnit::ALL[..]))
        .prop_map(|(count, unit)| Duration::new(count, unit))
}

fn measured() -> impl Strategy<Value = Measured> {
    let channel = "[A-Za-z_][A-Za-z0-9_.]{0,6}|\\PC{2,6}";
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
        windows in 1..=1000u32, time in prop::option::of(time()), only in any::<bool>(),
    ) {
        let only = only.then(|| vec!["a".to_owned(), "b c".to_owned()]);
        let windows = if time.is_some() { 1 } else { windows };
        let alarm = Alarm { measured, comparison, limit, windows, time, only };
        let text = alarm.to_string();
        let read = Alarm::parse(&text).unwrap_or_else(|refused| panic!("{text}\n{refused}"));
        prop_assert_eq!(&read, &alarm);
        let json = serde_json::to_string(&alarm).unwrap();
        prop_assert_eq!(serde_json::from_str::<Alarm>(&json).unwrap(), alarm);
    }

    #[test]
    fn a_silence_reads_back(
        channel in prop::option::of("[A-Za-z_][A-Za-z0-9_.]{0,6}|silent|for|\\PC{2,6}"), time in time(), only in any::<bool>(),
    ) {
        let only = only.then(|| vec!["a".to_owned(), "b c".to_owned()]);
        let silence = Silence { channel, time, only };
        let text = silence.to_string();
        let read: Silence = text.parse().unwrap_or_else(|refused| panic!("{text}\n{refused}"));
        prop_assert_eq!(&read, &silence);
        let json = serde_json::to_string(&silence).unwrap();
        prop_assert_eq!(serde_json::from_str::<Silence>(&json).unwrap(), silence);
    }

    #[test]
    fn random_texts_never_panic(
        text in "(silent|x silent|[a-z(]{0,4})[ x()><=0-9.-]{0,12}(for|where|per)?[ 0-9a-z(]{0,9}|\\PC{0,40}",
    ) {
        if let Ok(condition) = AlarmCondition::parse(&text) {
            prop_assert_eq!(AlarmCondition::parse(&condition.to_string()), Ok(condition));
        }
    }
}
