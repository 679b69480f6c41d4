//! Questions for a plant: their times, their streams, kept answers.

use sotto_owner::alarm::AlarmSettings;
use sotto_owner::edit::{add_channel, add_device, add_question};
use sotto_owner::settings::ChannelSettings;
use sotto_owner::{NewPlant, OwnerError, Plant};

fn plant(folder: &tempfile::TempDir) -> Plant {
    let here = NewPlant {
        cloud: None,
        listen: "127.0.0.1:7410".parse().unwrap(),
        time_zone: Some("Europe/Rome".into()),
    };
    Plant::init(&folder.path().join("plant"), &here).unwrap()
}

fn with_channel(folder: &tempfile::TempDir) -> Plant {
    let mut plant = plant(folder);
    let (range, every) = ("-20..120".parse().unwrap(), "1h".parse().unwrap());
    let temperature = ChannelSettings::new("°C", range, 0.1, every);
    plant.edit(|settings| add_channel(settings, "temperature", &temperature)).unwrap();
    plant
}

#[test]
fn a_start_and_an_end_replace_those_of_the_question() {
    let folder = tempfile::tempdir().unwrap();
    let plant = with_channel(&folder);
    let text = "mean(temperature) since 2014-01-01 until 2014-02-01";
    let asked =
        |since, until| plant.question_between(text, since, until).map(|question| question.to_string());
    let expected = |text: &str| plant.question(text).unwrap().to_string();
    assert_eq!(asked(None, None).unwrap(), expected(text));
    let both = "mean(temperature) since 2015-01-01T12:00 until 2015-02-01";
    assert_eq!(asked(Some("2015-01-01T12:00"), Some("2015-02-01")).unwrap(), expected(both));
    let end = "mean(temperature) since 2014-01-01 until 2014-01-20";
    assert_eq!(asked(None, Some("2014-01-20")).unwrap(), expected(end));
    for wrong in ["", "yesterday", "2014-02-30", "2014-01-01 12:00"] {
        assert!(matches!(asked(Some(wrong), None), Err(OwnerError::Question(_))), "{wrong}");
    }
    let over = plant.question_between("mean(temperature) over 7d", Some("2014-01-01"), None);
    assert!(over.unwrap_err().to_string().contains("leave one of them out"));
}

#[test]
fn streams_are_planned_for_each_device_or_for_all_channels() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(plant(&folder).planned_streams(None), Err(OwnerError::Unanswerable(_))));
    let folder = tempfile::tempdir().unwrap();
    let mut plant = with_channel(&folder);
    let daily = "mean(temperature) by day";
    plant.edit(|settings| add_question(settings, "daily", &daily.into())).unwrap();
    let all = plant.planned_streams(None).unwrap();
    assert_eq!(all.keys().collect::<Vec<_>>(), ["a device with all channels"]);
    plant.edit(|settings| add_device(settings, "boiler", &["temperature".into()])).unwrap();
    let one = plant.planned_streams(Some("stddev(temperature) by hour")).unwrap();
    assert_eq!(one.keys().collect::<Vec<_>>(), ["boiler"]);
    assert!(one["boiler"][0].stream.needs.squares && !all.values().next().unwrap()[0].stream.needs.squares);
    assert!(matches!(plant.planned_streams(Some("mean(rain)")), Err(OwnerError::Question(_))));
}

/// A question that cannot work, whatever the readings are, is refused in words where it is declared and where it is asked;
/// one that no reading within the declared range answers, where it is declared.
#[test]
fn questions_that_cannot_work_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = with_channel(&folder);
    plant.edit(|settings| add_device(settings, "boiler", &["temperature".into()])).unwrap();
    let (range, every) = ("0..1".parse().unwrap(), "1h".parse().unwrap());
    let door = ChannelSettings::new("", range, 0.5, every);
    plant.edit(|settings| add_channel(settings, "door", &door)).unwrap();
    let refused = |text: &str, word: &str| {
        let message = match plant.new_question(text) {
            Err(OwnerError::Question(message) | OwnerError::EmptyTime(message)) => message,
            other => panic!("{text}: {other:?}"),
        };
        assert!(message.contains(word), "{text}: {message}");
    };
    let list = |count: usize| vec!["1"; count].join(", ");
    let weights =
        |count: usize, clauses: &str| format!("weighted_sum(temperature, [{}]) {clauses}", list(count));
    for (text, word) in [
        ("regression(temperature ~ \"temperature\")", "name two channels"),
        ("2 + correlation(temperature, temperature)", "name two channels"),
        (&weights(2, "by hour"), "more than the readings of temperature in a group, 1 at most"),
        (&weights(26, "by day"), "25 at most"),
        (&weights(170, "by week"), "169 at most"),
        (&weights(25, "over 1d by month"), ""),
        (&weights(26, "over 1d by month"), "25 at most"),
        (&weights(5, "since 2024-01-01 until 2024-01-01T04:00"), "4 at most"),
        // Clocks are put forward in this night.
        (&weights(4, "since 2024-03-31 until 2024-03-31T04:00"), "3 at most"),
        ("mean(temperature) over 59m", "59m is shorter than the 1h between two readings of temperature"),
        ("mean(temperature) since 2024-01-02 until 2024-01-01", "exchange them"),
        ("mean(temperature) since 2024-01-02 until 2024-01-01T23:00Z", "exchange them"),
        ("mean(door) where device in (boiler)", "no device of the where clause measures door"),
    ] {
        if word.is_empty() {
            plant.new_question(text).unwrap();
            continue;
        }
        refused(text, word);
        assert!(
            matches!(plant.question(text), Err(OwnerError::Question(_) | OwnerError::EmptyTime(_))),
            "{text}"
        );
    }
    // Stored readings may be of a wider range, which was declared before.
    for (text, word) in [
        (
            "time(temperature > 120)",
            "temperature > 120 never holds: temperature is declared from -20 to 120 °C",
        ),
        ("count(temperature < -20)", "never holds"),
        ("count(temperature >= 1e300)", "temperature >= 1e300 never holds"),
        ("histogram(temperature, [130, 140])", "no bin has a reading of temperature"),
        ("histogram(temperature, [-50, -40, -30])", "no bin"),
    ] {
        refused(text, word);
        plant.question(text).unwrap();
    }
    for text in [
        "covariance(temperature, temperature)",
        "time(temperature <= -20), time(temperature >= 120), time(temperature >= -20)",
        "count(door > 0), histogram(door, 16), histogram(temperature, [-50, -20])",
        "moving_average(temperature, 3) over 3d by day",
        // Stored days before count.
        "moving_average(temperature, 9) over 3h by hour",
        "mean(temperature) over 1h",
        "weighted_sum(temperature, [1e-320, -2e-320])",
        &weights(24, "by day"),
        &weights(4096, ""),
    ] {
        plant.new_question(text).unwrap();
    }
    let empty = plant.question_between("mean(temperature) since 2024-01-02", None, Some("2024-01-02"));
    assert!(empty.unwrap_err().to_string().contains("exchange them"));
    let alarm = |when: &str| plant.condition(&AlarmSettings::new(when), None);
    for (when, column) in [("temperature > 200", 1), ("min(temperature) < -30 for 3 windows", 1)] {
        let refused = alarm(when).unwrap_err().to_string();
        assert!(
            refused.contains("never holds") && refused.contains(&format!("column {column}:")),
            "{refused}"
        );
    }
    assert!(
        alarm("correlation(temperature, temperature) > 0.5")
            .unwrap_err()
            .to_string()
            .contains("two channels")
    );
    let clear = AlarmSettings { clear: Some(-30.0), ..AlarmSettings::new("temperature > 80") };
    plant.condition(&clear, None).unwrap();
    assert_eq!(alarm("coverage(temperature) < 0.9").unwrap().unit(), "");
    // A question of before, or one written by hand, is refused when it is asked, and leaves the others alone.
    let never = "correlation(temperature, temperature) by day";
    plant.edit(|settings| add_question(settings, "never", &never.into())).unwrap();
    assert!(matches!(plant.question("never"), Err(OwnerError::Question(_))));
    assert!(plant.declared().unwrap().contains_key("never"));
}

/// No window has a state and a plain channel, readings of two periods, or readings and values of a model.
#[test]
fn results_of_windows_that_are_sent_apart_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = with_channel(&folder);
    let (range, hour) = ("-20..120", "1h".parse().unwrap());
    let door = ChannelSettings::of_states(["closed", "open"], hour);
    let minutes = ChannelSettings::new("", range.parse().unwrap(), 0.1, "1m".parse().unwrap());
    let humidity = ChannelSettings::new("", range.parse().unwrap(), 0.1, hour);
    for (name, channel) in [("door", &door), ("fine", &minutes), ("humidity", &humidity)] {
        plant.edit(|settings| add_channel(settings, name, channel)).unwrap();
    }
    let alarm = |when: &str| plant.condition(&AlarmSettings::new(when), None).map(|_| ());
    for (value, column) in [
        ("count(humidity) + count(door = open)", 19),
        ("count(humidity) + count(fine > 3)", 19),
        ("count(door) - 2 * changes(humidity)", 19),
        ("mean(humidity) - mean(polynomial(humidity, [0, 1]))", 18),
    ] {
        let refused = alarm(&format!("{value} > 3")).unwrap_err().to_string();
        assert!(refused.contains("no window has both"), "{value}: {refused}");
        assert!(refused.contains(&format!("column {column}:")), "{value}: {refused}");
        assert!(plant.question(&format!("{value} by window")).is_err(), "{value}");
        plant.question(&format!("{value} by day")).unwrap();
    }
    plant.question("count(humidity), count(door = open) by window").unwrap();
    alarm("mean(humidity) / count(humidity) > 3").unwrap();
}

#[test]
fn the_latest_answer_needs_one() {
    let folder = tempfile::tempdir().unwrap();
    assert!(plant(&folder).latest_answer().unwrap_err().to_string().contains("ask first"));
}

#[test]
fn a_result_is_converted_into_the_unit_of_in_or_refused_before_anything_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = with_channel(&folder);
    let hour = "1h".parse().unwrap();
    for (name, unit, range) in
        [("inlet", "°C", "-20..120"), ("ghi", "W/m²", "0..1500"), ("odd", "widgets", "0..10")]
    {
        let channel = ChannelSettings::new(unit, range.parse().unwrap(), 0.1, hour);
        plant.edit(|settings| add_channel(settings, name, &channel)).unwrap();
    }
    let asked = |text: &str| {
        plant.question(text).map(|question| question.to_string()).map_err(|error| error.to_string())
    };
    for text in [
        "mean(temperature) in °F",
        "energy(ghi) in kWh/m² as sun, max(ghi) in kW/m² by day",
        "mean(temperature) - mean(inlet) in K",
        "stddev(temperature) in °F",
        "weighted_sum(temperature, [-1, 1]) in °F",
    ] {
        assert_eq!(asked(text).as_deref(), Ok(text));
    }
    assert_eq!(asked("mean(ghi) as sun in kW/m²").as_deref(), Ok("mean(ghi) in kW/m² as sun"));
    for (text, says) in [
        ("sum(temperature) in °F", "whose zero is another one"),
        ("energy(temperature) in °F·h", "whose zero is another one"),
        ("mean(temperature) + mean(inlet) in °F", "whose zero is another one"),
        ("mean(temperature) in kWh", "they measure different things"),
        ("mean(odd) in kg", "\"widgets\" is no unit that sotto converts"),
        ("count(temperature) in kg", "has no unit"),
        ("mean(temperature) in", "there is no unit"),
        ("mean(temperature) in furlongs", "there is no unit furlongs"),
        ("regression(temperature ~ inlet) in °F", "has several values"),
    ] {
        let refused = asked(text).expect_err(text);
        assert!(refused.contains(says), "{text}: {refused}");
    }
}

/// Calls of two devices that may be of any period, of removed devices and of parameters, and their refusals.
#[test]
fn two_devices_may_differ_in_period_and_be_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = with_channel(&folder);
    let flow = ChannelSettings::new("l", "0..10".parse().unwrap(), 0.1, "5m".parse().unwrap());
    plant.edit(|settings| add_channel(settings, "flow", &flow)).unwrap();
    for (device, channel) in [("boiler", "temperature"), ("roof", "flow"), ("attic", "temperature")] {
        plant.edit(|settings| add_device(settings, device, &[channel.into()])).unwrap();
    }
    plant.edit(|settings| add_device(settings, "both", &["temperature".into(), "flow".into()])).unwrap();
    let fixed = "correlation(temperature of boiler, flow of roof)";
    assert_eq!(plant.new_question(fixed).unwrap().to_string(), fixed);
    let open = "correlation(temperature of $a, flow of $b) by day";
    plant.new_question(open).unwrap();
    plant.edit(|settings| add_question(settings, "apart", &open.into())).unwrap();
    let values = [("a", "boiler"), ("b", "roof")].map(|(name, value)| (name.into(), value.into()));
    let filled = plant.question_filled("apart", &values.into(), None, None).unwrap();
    assert_eq!(filled.to_string(), "correlation(temperature of boiler, flow of roof) by day");
    // Each device may be either: it sends the readings of the channels that it measures.
    let streams = plant.planned_streams(None).unwrap();
    for (device, channels) in
        [("boiler", &["temperature"][..]), ("roof", &["flow"]), ("both", &["flow", "temperature"])]
    {
        let of = |chosen: &sotto_owner::Chosen| chosen.stream.questions.contains(&"apart".to_owned());
        let mut sent: Vec<&str> = streams[device]
            .iter()
            .filter(|chosen| of(chosen))
            .flat_map(|chosen| chosen.stream.channels.iter().map(String::as_str))
            .collect();
        sent.sort_unstable();
        assert_eq!(sent, channels, "{device}");
    }
    for (text, says) in [
        ("correlation(temperature of boilr, flow of roof)", "did you mean boiler?"),
        ("correlation(temperature of roof, flow of roof2)", "no device roof2"),
        ("correlation(temperature of roof, flow of boiler)", "roof does not measure temperature"),
        ("correlation(temperature of boiler, flow of roof) where tag in (barn)", "leave out where tag in"),
        (
            "correlation(temperature of $a, flow of $b), mean(flow) where tag in ($t)",
            "leave out where tag in",
        ),
    ] {
        let error = plant.new_question(text).unwrap_err().to_string();
        assert!(error.contains(says) && error.contains('^'), "{text}: {error}");
    }
}
