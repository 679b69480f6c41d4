//! Alarms of a plant: their streams, their channels, their files.

use sotto_owner::alarm::{AlarmSettings, Event, Outbox, SinkKind, Watch};
use sotto_owner::edit::{add_alarm, add_channel, add_device, add_question};
use sotto_owner::question::Question;
use sotto_owner::settings::{ChannelSettings, KindName};
use sotto_owner::{NewPlant, OwnerError, Plant};
use sotto_pack::Span;

/// Returns a plant with a channel every five minutes and one every hour, a device and an alarm.
pub(super) fn plant(folder: &tempfile::TempDir, alarm: &AlarmSettings) -> Plant {
    plant_of(folder, alarm, "127.0.0.1:7410".parse().unwrap())
}

fn plant_of(folder: &tempfile::TempDir, alarm: &AlarmSettings, listen: std::net::SocketAddr) -> Plant {
    let here = NewPlant { cloud: None, listen, time_zone: Some("Europe/Rome".into()) };
    let mut plant = Plant::init(&folder.path().join("plant"), &here).unwrap();
    let channel = |every: &str| {
        let range = "-20..120".parse().unwrap();
        ChannelSettings::new("°C", range, 0.5, every.parse().unwrap())
    };
    plant
        .edit(|settings| {
            add_channel(settings, "temperature", &channel("5m"))?;
            add_channel(settings, "slow", &channel("1h"))?;
            add_device(settings, "boiler", &["temperature".into(), "slow".into()])?;
            add_alarm(settings, "hot", alarm)
        })
        .unwrap();
    plant
}

#[test]
fn a_device_counts_at_both_limits_in_windows_of_an_hour() {
    let folder = tempfile::tempdir().unwrap();
    let alarm = AlarmSettings { clear: Some(75.0), ..AlarmSettings::new("temperature > 80 for 3 windows") };
    let mut plant = plant(&folder, &alarm);
    plant.edit(|settings| add_question(settings, "daily", &"mean(temperature) by day".into())).unwrap();
    let streams = plant.planned_streams(None).unwrap();
    let fast = streams["boiler"].iter().find(|chosen| chosen.stream.name() == "exact-5m").unwrap();
    assert_eq!(fast.stream.questions, ["alarm hot", "daily"]);
    assert_eq!(fast.cut.span, Span::Hour);
    let placed = fast.sums.iter().flat_map(|part| &part.quantities);
    let bins: Vec<usize> =
        placed.filter(|placed| placed.quantity.is_once()).map(|placed| placed.quantity.places()).collect();
    assert_eq!(bins, [3], "up to 75, up to 80, above");
    let enrolled = plant.enrol("boiler", &folder.path().join("boiler.bundle")).unwrap();
    assert_eq!(enrolled.streams.len(), 2);
    let carried = |text: &str| {
        let declared = plant.condition(&AlarmSettings::new(text), None).unwrap();
        plant.carried_by("", &declared.streams().unwrap()).unwrap()[0].1.clone()
    };
    assert_eq!(carried("temperature > 80"), None);
    assert_eq!(carried("max(temperature) >= 80.5"), None, "the same readings");
    assert!(carried("temperature > 81").unwrap().contains("does not count"));
    let spread = carried("max(temperature) - min(temperature) > 10").unwrap();
    assert!(spread.contains("does not send the largest reading of temperature"), "{spread}");
}

/// Of several streams with a period, the nearest to a call tells what it lacks.
#[test]
fn a_bundle_lacks_what_its_nearest_stream_does_not_send() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = plant(&folder, &AlarmSettings::new("temperature > 80"));
    let humidity = ChannelSettings::new("%", "0..100".parse().unwrap(), 0.5, "5m".parse().unwrap());
    plant
        .edit(|settings| {
            add_channel(settings, "humidity", &humidity)?;
            add_device(settings, "barn", &["humidity".into(), "temperature".into()])?;
            add_question(settings, "daily", &"mean(humidity) by day".into())
        })
        .unwrap();
    let enrolled = plant.enrol("barn", &folder.path().join("barn.bundle")).unwrap();
    assert_eq!(enrolled.streams.len(), 2, "windows of a day, and of an hour");
    let lacks = |text: &str| {
        let question = Question::parse(text).unwrap();
        plant.carried_by("", &question).unwrap()[0].1.clone().unwrap()
    };
    let extremes = lacks("max(temperature), min(temperature)");
    assert!(extremes.contains("does not send the largest reading of temperature"), "{extremes}");
    assert!(lacks("stddev(temperature)").contains("does not send squares"));
    let both = lacks("covariance(temperature, humidity)");
    assert!(both.contains("in one window"), "{both}");
}

#[test]
fn windows_of_long_periods_are_as_long_as_these() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = plant(&folder, &AlarmSettings::new("temperature > 80"));
    for (name, every) in [("weekly", "7d"), ("shifts", "36h")] {
        let channel = ChannelSettings::new("l", "0..100".parse().unwrap(), 0.5, every.parse().unwrap());
        plant.edit(|settings| add_channel(settings, name, &channel)).unwrap();
        plant.edit(|settings| add_device(settings, &format!("{name}-gauge"), &[name.into()])).unwrap();
    }
    // A window and two periods, and an hour for late rows.
    for (name, window, bound) in [("weekly", "7d", 3 * 7 * 24 + 1), ("shifts", "36h", 3 * 36 + 1)] {
        let read = |hours: u32| {
            plant.condition(&AlarmSettings::new(format!("{name} silent for {hours}h")), None).map(drop)
        };
        let refused = read(bound).unwrap_err().to_string();
        assert!(refused.contains(&format!("sends a window every {window}")), "{refused}");
        assert!(refused.contains(&format!("silent for up to {bound}h: write for {}h or more", bound + 1)));
        assert!(!refused.contains("--fresh"), "pieces are no shorter: {refused}");
        read(bound + 1).unwrap();
    }
}

#[test]
fn conditions_are_checked_against_the_plant() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = plant(&folder, &AlarmSettings::new("temperature > 80"));
    let refused = |text: &str| plant.condition(&AlarmSettings::new(text), None).unwrap_err().to_string();
    assert!(refused("rain > 3").contains("column 1: there is no channel rain"));
    assert!(refused("mean(temperature) - mean(rain) > 3").contains("column 26"));
    assert!(refused("temperature > 3 where device in (pump)").contains("no device pump"));
    assert!(refused("mean(temperature) - mean(slow) > 3").contains("windows of their own"));
    assert!(refused("mean(temperature) + variance(temperature) > 3").contains("units differ"));
    let both = "mean(temperature) - mean(polynomial(temperature, [0, 1])) > 3";
    assert!(refused(both).contains("windows of their own"), "{}", refused(both));
    let used = plant.remove_channel("temperature").unwrap_err();
    assert!(used.to_string().contains("`sotto alarm remove hot`"), "{used}");
    let twice =
        plant.edit(|settings| add_alarm(settings, "hot", &AlarmSettings::new("slow > 3"))).unwrap_err();
    assert!(matches!(twice, OwnerError::Declared { kind: "alarms", .. }));
    plant.remove_alarm("hot").unwrap();
    assert!(matches!(plant.alarm("hot"), Err(OwnerError::NotDeclared { kind: "alarm", .. })));
}

#[test]
fn conditions_that_can_never_hold_are_refused_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let plant = plant(&folder, &AlarmSettings::new("temperature > 80"));
    let read = |text: &str| plant.condition(&AlarmSettings::new(text), None);
    for (text, says) in [
        ("count(temperature) < 1", "temperature silent for 3h"),
        ("count(temperature) <= 0", "coverage(temperature) < 0.5"),
        ("count(temperature) > 301", "sends windows of 1h, and count(temperature) is from 1 to 12 in 1h"),
        ("coverage(temperature) > 1", "from 0 to 1"),
        ("coverage(temperature) < 0", "from 0 to 1"),
        ("1 - coverage(temperature) > 1", "from 0 to 1"),
        ("temperature > 120", "never holds"),
        ("max(temperature) > 120", "never holds"),
        ("max(temperature) < -20", "never holds"),
        ("mean(temperature) > 120", "from -20 to 120 °C"),
        ("range(temperature) > 140", "from 0 to 140 °C"),
        ("max(temperature) - min(temperature) > 140", "from 0 to 140 °C"),
        ("stddev(temperature) > 70", "from 0 to 70 °C"),
        ("mean(temperature) * 2 > 240", "from -40 to 240"),
        ("quantile(temperature, 0.9) < -20", "from -20 to 120 °C"),
    ] {
        match read(text) {
            Err(error) => {
                let error = error.to_string();
                assert!(error.contains(says) && error.contains("never holds"), "{text}: {error}");
            }
            Ok(declared) => panic!("{declared} is taken"),
        }
    }
    for text in [
        "count(temperature) < 2",
        "count(temperature) >= 12",
        "count(slow) >= 25",
        "coverage(temperature) <= 0",
        "coverage(temperature) >= 1",
        "temperature > 119",
        "max(temperature) < -19",
        "mean(temperature) >= 120",
        "mean(temperature) / count(temperature) > 80",
        "range(temperature) < 1",
        "sum(temperature) > 1000",
        "time(temperature > 20) >= 1",
        "time(slow > 20) > 2",
        "max(temperature) - min(temperature) <= 0",
        "count(temperature > 20) >= 10 for 2 windows",
    ] {
        assert!(read(text).is_ok(), "{text}: {:?}", read(text).err());
    }
}

/// Windows of an alarm are those of an hour, whatever the device sends until it has a new bundle.
#[test]
fn conditions_beyond_the_windows_of_an_alarm_are_refused_with_their_length() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = plant(&folder, &AlarmSettings::new("slow > 80"));
    let door = ChannelSettings::new("", "0..1".parse().unwrap(), 1.0, "5m".parse().unwrap());
    let counter = ChannelSettings {
        kind: KindName::Counter,
        ..ChannelSettings::new("l", "0..1000".parse().unwrap(), 1.0, "5m".parse().unwrap())
    };
    let power = ChannelSettings::new("W", "0..5000".parse().unwrap(), 1.0, "5m".parse().unwrap());
    plant
        .edit(|settings| {
            add_channel(settings, "door", &door)?;
            add_channel(settings, "water", &counter)?;
            add_channel(settings, "power", &power)?;
            add_device(settings, "yard", &["door".into(), "water".into(), "power".into()])
        })
        .unwrap();
    let refused = |text: &str| plant.condition(&AlarmSettings::new(text), None).unwrap_err().to_string();
    for (text, range, way) in [
        ("time(door >= 1) > 2", "from 0 to 1 h", "time(door >= 1) > 0.666 for 3 windows"),
        ("time(door >= 1) > 25", "from 0 to 1 h", "time(door >= 1) > 0.961 for 26 windows"),
        ("count(temperature > 20) >= 20", "from 0 to 12", "count(temperature > 20) >= 10 for 2 windows"),
        ("count(door >= 1) > 12", "from 0 to 12", "count(door >= 1) > 6 for 2 windows"),
        ("changes(door) > 13", "from 0 to 12", "changes(door) > 6.5 for 2 windows"),
        ("energy(power) > 6000", "from 0 to 5000 W·h", "energy(power) > 3000 for 2 windows"),
        ("sum(power) > 400000", "from 0 to 60000 W", "sum(power) > 57100 for 7 windows"),
        ("increase(water) > 1000000", "from 0 to 12000 l", "increase(water) > 11900 for 84 windows"),
    ] {
        let error = refused(text);
        let says = format!(
            "a device sends windows of 1h, and {} is {range} in 1h",
            text.rsplit_once([' ']).unwrap().0.rsplit_once(' ').unwrap().0
        );
        assert!(error.contains(&says), "{text}: {error}");
        assert!(error.contains(way), "{text}: {error}");
        let taken = plant.condition(&AlarmSettings::new(way), None);
        assert!(taken.is_ok(), "{way}: {taken:?}");
    }
    assert!(refused("max(temperature) - min(temperature) < 0").contains("from 0 to 140 °C in every window"));
    assert!(refused("min(temperature) - max(temperature) > 0").contains("from -140 to 0 °C in every window"));
}

/// An alarm that was declared before its channel's range or period changed.
#[test]
fn declared_alarms_that_are_never_raised_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = plant(&folder, &AlarmSettings::new("temperature > 80"));
    assert_eq!(plant.never_raised().unwrap(), []);
    plant
        .edit(|settings| add_alarm(settings, "many", &AlarmSettings::new("count(temperature) > 13")))
        .unwrap();
    let never = plant.never_raised().unwrap();
    assert_eq!(never.len(), 1);
    assert!(never[0].0 == "many" && never[0].1.contains("the condition never holds"), "{never:?}");
}

#[test]
fn a_state_is_compared_in_a_count_or_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let plant = plant(&folder, &AlarmSettings::new("temperature > 80"));
    let refused = |text: &str| plant.condition(&AlarmSettings::new(text), None).unwrap_err().to_string();
    for text in ["door = open", "door != open", "door = \"open\""] {
        let error = refused(text);
        let condition = text.replace('"', "");
        assert!(
            error.contains(&format!("time({condition}) > 0.5"))
                && error.contains(&format!("count({condition}) > 0")),
            "{error}"
        );
    }
    assert!(refused("mean(temperature) > mean(slow)").contains("move the statistic to the left"));
}

/// The least time is that of all devices of the alarm, with pieces as without.
#[test]
fn the_advice_on_a_silence_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = plant(&folder, &AlarmSettings::new("temperature > 80"));
    let fast = ChannelSettings::new("%", "0..100".parse().unwrap(), 1.0, "1m".parse().unwrap());
    plant
        .edit(|settings| {
            add_channel(settings, "humidity", &fast)?;
            add_device(settings, "barn", &["humidity".into()])
        })
        .unwrap();
    let read = |text: &str, fresh: Option<&str>| {
        let fresh = fresh.map(|fresh| fresh.parse().unwrap());
        plant.condition(&AlarmSettings::new(text), fresh).map(drop).map_err(|error| error.to_string())
    };
    let slow = read("silent for 3h", None).unwrap_err();
    assert!(
        slow.contains("barn sends a window every 25h") && slow.contains("21m is enough with --fresh 5m"),
        "{slow}"
    );
    assert_eq!(read("silent for 21m", Some("5m")), Ok(()));
    assert!(read("silent for 20m", Some("5m")).unwrap_err().contains("boiler sends a piece every 5m"));
    let pieces = read("humidity silent for 4m", Some("10s")).unwrap_err();
    assert!(pieces.contains("sends a piece every 10s and has a reading every 1m"), "{pieces}");
}

#[test]
fn a_silence_is_longer_than_the_time_between_two_windows() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = plant(&folder, &AlarmSettings::new("temperature > 80"));
    let read = |plant: &Plant, text: &str, fresh: Option<&str>| {
        let fresh = fresh.map(|fresh| fresh.parse().unwrap());
        plant.condition(&AlarmSettings::new(text), fresh).map(drop).map_err(|error| error.to_string())
    };
    // Windows of an hour with a reading every five minutes: the hour, two periods, and five minutes until it closes.
    assert!(read(&plant, "temperature silent for 75m", None).unwrap_err().contains("write for 76m"));
    assert_eq!(read(&plant, "temperature silent for 76m", None), Ok(()));
    assert_eq!(read(&plant, "silent for 76m", None), Ok(()));
    // The other channel has windows of a day.
    let slow = read(&plant, "slow silent for 3h", None).unwrap_err();
    assert!(slow.contains("write for 29h") && slow.contains("--fresh"), "{slow}");
    assert_eq!(read(&plant, "slow silent for 29h", None), Ok(()));
    assert_eq!(read(&plant, "temperature silent for 21m", Some("5m")), Ok(()));
    assert!(read(&plant, "temperature silent for 20m", Some("5m")).unwrap_err().contains("a piece every 5m"));
    // Without an alarm on a channel, windows are those of a day; one about a channel makes them those of an hour.
    plant.remove_alarm("hot").unwrap();
    let device = read(&plant, "silent for 3h", None).unwrap_err();
    assert!(device.contains("25h") && device.contains("an alarm on a channel"), "{device}");
    assert_eq!(read(&plant, "temperature silent for 3h", None), Ok(()));
    assert!(read(&plant, "rain silent for 3h", None).unwrap_err().contains("no channel rain"));
    assert!(
        read(&plant, "silent for 3d where device in (pump)", None).unwrap_err().contains("no device pump")
    );
    let ends = AlarmSettings { clear: Some(1.0), ..AlarmSettings::new("silent for 3d") };
    let refused = plant.edit(|settings| add_alarm(settings, "dead", &ends)).unwrap_err().to_string();
    assert!(refused.contains("ends with the next reading"), "{refused}");
    let wrong = AlarmSettings { mute: Some("satrday".into()), ..AlarmSettings::new("silent for 3d") };
    let refused = plant.edit(|settings| add_alarm(settings, "dead", &wrong)).unwrap_err().to_string();
    assert!(refused.contains("did you mean saturday?"), "{refused}");
    plant
        .edit(|settings| add_alarm(settings, "dead", &AlarmSettings::new("temperature silent for 3h")))
        .unwrap();
    assert_eq!(plant.declared().unwrap()["alarm dead"].to_string(), "count(temperature) by hour per device");
    assert!(plant.remove_channel("temperature").unwrap_err().to_string().contains("alarm remove dead"));
}

#[test]
fn the_silence_that_a_refusal_advises_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = plant(&folder, &AlarmSettings::new("temperature > 80"));
    plant.remove_alarm("hot").unwrap();
    let rain = ChannelSettings::new("mm", "0..99".parse().unwrap(), 0.5, "1h".parse().unwrap());
    plant
        .edit(|settings| {
            add_channel(settings, "rain", &rain)?;
            add_device(settings, "gauge", &["rain".into()])
        })
        .unwrap();
    let read =
        |text: &str| plant.condition(&AlarmSettings::new(text), None).map(drop).map_err(|e| e.to_string());
    let advised = |text: &str, before: &str, after: &str| -> String {
        let refused = read(text).unwrap_err();
        let (_, advice) = refused.split_once(before).unwrap_or_else(|| panic!("{refused}"));
        advice.split_once(after).unwrap_or_else(|| panic!("{refused}")).0.to_owned()
    };
    for (text, before, after, is) in [
        (
            "silent for 3h where device in (boiler)",
            "such as ",
            ", makes",
            "temperature silent for 76m where device in (boiler)",
        ),
        ("count(rain) < 1", "write ", " for a time", "rain silent for 29h"),
        ("count(temperature) < 1", "write ", " for a time", "temperature silent for 3h"),
    ] {
        let advice = advised(text, before, after);
        assert_eq!((advice.as_str(), read(&advice)), (is, Ok(())), "{text}");
    }
    // Windows of a channel with a reading an hour are those of a day with an alarm, too.
    assert!(!read("silent for 3h where device in (gauge)").unwrap_err().contains("such as"));
}

#[test]
fn a_bundle_with_windows_of_a_day_is_too_slow_for_a_silence() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = plant(&folder, &AlarmSettings::new("temperature > 80"));
    plant.remove_alarm("hot").unwrap();
    let slow = |plant: &Plant, text: &str, fresh: Option<&str>| {
        let fresh = fresh.map(|fresh| fresh.parse().unwrap());
        let slow = plant.too_slow_for(&text.parse().unwrap(), fresh).unwrap();
        slow.into_iter().map(|(device, time)| format!("{device} {time}")).collect::<Vec<_>>()
    };
    assert!(slow(&plant, "temperature silent for 3h", None).is_empty(), "nobody is enrolled");
    plant.enrol("boiler", &folder.path().join("boiler.bundle")).unwrap();
    assert_eq!(slow(&plant, "temperature silent for 3h", None), ["boiler 26h"]);
    assert!(slow(&plant, "temperature silent for 3h where device in (pump)", None).is_empty());
    assert!(slow(&plant, "temperature silent for 3h", Some("5m")).is_empty());
    assert!(slow(&plant, "silent for 2d", None).is_empty());
}

#[test]
fn one_process_watches_and_an_absent_cloud_is_an_error_of_the_round() {
    let folder = tempfile::tempdir().unwrap();
    let plant = plant(&folder, &AlarmSettings::new("temperature > 80"));
    let mut watch = Watch::open(&plant, 60_000).unwrap();
    assert!(Watch::open(&plant, 60_000).unwrap_err().to_string().contains("another `sotto watch`"));
    let outbox = std::sync::Mutex::new(Outbox::open(&plant).unwrap());
    let round = watch.round(&plant, &outbox);
    assert!(matches!(round.error, Some(OwnerError::Cloud(_))), "{round:?}");
    assert_eq!((round.alarms, round.windows, round.events.len()), (1, 0, 0));
    drop(watch);
    // A watch that was killed while it wrote leaves a part of a file.
    let mut ended = std::process::Command::new("true").spawn().unwrap();
    ended.wait().unwrap();
    let left = ["", "state/", "mutes/"].map(|folder| {
        std::fs::create_dir_all(plant.folder().join("alarms").join(folder)).unwrap();
        plant.folder().join(format!("alarms/{folder}hot.json.{}.partial", ended.id()))
    });
    left.iter().for_each(|path| std::fs::write(path, "{").unwrap());
    if cfg!(target_os = "linux") {
        let faults = plant.check().unwrap();
        let told = faults.iter().filter(|fault| fault.what.contains("interrupted")).count();
        assert_eq!(told, left.len(), "{faults:?}");
    }
    Watch::open(&plant, 60_000).unwrap();
    if cfg!(target_os = "linux") {
        assert_eq!(
            left.each_ref().map(|path| path.exists()),
            [false, false, true],
            "mutes have a lock of their own"
        );
    }
    let status = plant.alarm_status("hot").unwrap();
    assert!(status.devices.is_empty(), "the device is not enrolled");
}

#[test]
fn a_watch_does_not_begin_without_an_alarm_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = plant(&folder, &AlarmSettings::new("temperature > 80"));
    plant.edit(|settings| add_alarm(settings, "slow", &AlarmSettings::new("slow > 80"))).unwrap();
    drop(Watch::open(&plant, 60_000).unwrap());
    let state = plant.folder().join("alarms/state/hot.json");
    std::fs::write(&state, "{").unwrap();
    let refused = Watch::open(&plant, 60_000).unwrap_err();
    let text = refused.to_string();
    assert_eq!(refused.exit_code(), 3, "{text}");
    for says in ["alarm hot", state.to_str().unwrap(), "Move this file away", "`sotto alarm remove hot`"] {
        assert!(text.contains(says), "{says}: {text}");
    }
    std::fs::remove_file(&state).unwrap();
    drop(Watch::open(&plant, 60_000).unwrap());
    // A record that the alarms' devices are read from.
    std::fs::write(plant.folder().join("devices/boiler.json"), "{").unwrap();
    let refused = Watch::open(&plant, 60_000).unwrap_err().to_string();
    assert!(refused.contains("alarm hot") && refused.contains("boiler.json"), "{refused}");
}

#[test]
fn an_alarm_that_cannot_be_stored_stops_no_other() {
    let folder = tempfile::tempdir().unwrap();
    // No cloud listens there: alarms fail after some rounds.
    let listen = "127.0.0.1:9".parse().unwrap();
    let mut plant = plant_of(&folder, &AlarmSettings::new("temperature > 80"), listen);
    plant.edit(|settings| add_alarm(settings, "slow", &AlarmSettings::new("slow > 80"))).unwrap();
    plant.enrol("boiler", &folder.path().join("boiler.bundle")).unwrap();
    let mut watch = Watch::open(&plant, 60_000).unwrap();
    // Files are written beside their place first.
    let beside = plant.folder().join(format!("alarms/state/hot.json.{}.partial", std::process::id()));
    std::fs::create_dir(&beside).unwrap();
    let outbox = std::sync::Mutex::new(Outbox::open(&plant).unwrap());
    let mut round = || {
        let round = watch.round(&plant, &outbox);
        assert!(round.error.is_some());
        round.events.into_iter().map(|event| event.alarm).collect::<Vec<_>>()
    };
    let told: Vec<String> = (0..4).flat_map(|_| round()).collect();
    assert_eq!(told, ["slow"], "told once, and hot is not told before it is stored");
    std::fs::remove_dir(&beside).unwrap();
    let told: Vec<String> = (0..4).flat_map(|_| round()).collect();
    assert_eq!(told, ["hot"]);
    let journal = std::fs::read_to_string(plant.folder().join("alarms/alarms.jsonl")).unwrap();
    assert_eq!(journal.lines().count(), 2);
}

#[test]
fn deliveries_wait_longer_each_time_and_keep_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let plant = plant(&folder, &AlarmSettings::new("temperature > 80"));
    let event = |id: &str| -> Event {
        serde_json::from_str(&format!(
            r#"{{"version": 1, "id": "{id}", "alarm": "hot", "device": "boiler", "event": "raised", "when": "", "from": "", "to": "",
            "value": null, "bound": null, "unit": "", "readings": 1, "late": false, "at": "", "what": ""}}"#
        ))
        .unwrap()
    };
    let mut outbox = Outbox::open(&plant).unwrap();
    let sinks = [SinkKind::Exec, SinkKind::Webhook];
    for id in ["a", "b"] {
        outbox.add(&event(id), &sinks, 0).unwrap();
        outbox.add(&event(id), &sinks, 0).unwrap();
    }
    assert_eq!((outbox.len(), outbox.due(0).len()), (4, 4));
    let waits: Vec<i64> =
        (0..14).map(|_| outbox.failed("a", SinkKind::Webhook, 0).unwrap().unwrap()).collect();
    assert_eq!(waits[..4], [2_000, 4_000, 8_000, 16_000]);
    assert_eq!(waits[13], 3_600_000);
    // The second event waits for the first one; the other sink does not.
    let due: Vec<_> = outbox.due(1).into_iter().map(|delivery| (delivery.event.id, delivery.sink)).collect();
    assert_eq!(due, [("a".to_owned(), SinkKind::Exec), ("b".to_owned(), SinkKind::Exec)]);
    // After a restart everything is there.
    let mut outbox = Outbox::open(&plant).unwrap();
    assert_eq!((outbox.len(), outbox.due(3_600_000).len()), (4, 4));
    let late = 7 * 86_400_000;
    assert_eq!(outbox.failed("a", SinkKind::Webhook, late).unwrap(), None, "dropped after seven days");
    outbox.delivered("a", SinkKind::Exec).unwrap();
    outbox.add(&event("a"), &[SinkKind::Exec], late).unwrap();
    assert_eq!(outbox.len(), 2, "it was delivered");
    outbox.drop_alarm("hot").unwrap();
    assert!(Outbox::open(&plant).unwrap().is_empty());
}

#[cfg(unix)]
#[test]
fn others_cannot_read_events() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let plant = plant(&folder, &AlarmSettings::new("temperature > 80"));
    drop(Watch::open(&plant, 60_000).unwrap());
    let mode =
        |name: &str| std::fs::metadata(plant.folder().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("alarms"), mode("alarms/state")), (0o700, 0o700));
}
