use super::*;
use crate::declared::{self, NewPlant, Watched, edit};
use crate::settings::ChannelSettings;
use crate::windows::{Aside, window_of_hours};

/// Returns a plant with an alarm on x by the hour and a question about x and y by day, and its device's record.
fn plant(folder: &std::path::Path) -> (Plant, DeviceRecord) {
    let new = NewPlant { cloud: None, listen: "127.0.0.1:9".parse().unwrap(), time_zone: None };
    let mut plant = Plant::init(&folder.join("plant"), &new).unwrap();
    let channel = ChannelSettings::new("", "-20..120".parse().unwrap(), 0.1, "5m".parse().unwrap());
    plant
        .edit(|settings| {
            edit::add_channel(settings, "x", &channel)?;
            edit::add_channel(settings, "y", &channel)?;
            edit::add_device(settings, "boiler", &["x".into(), "y".into()])?;
            edit::add_question(settings, "both", &"covariance(x, y) by day".into())?;
            edit::add_alarm(settings, "hot", &crate::alarm::AlarmSettings::new("x > 80"))
        })
        .unwrap();
    plant.enrol("boiler", &folder.join("boiler.bundle")).unwrap();
    let record = devices::record(&plant, "boiler").unwrap().unwrap();
    (plant, record)
}

fn listed(windows: Vec<StoredWindow>) -> DeviceWindows {
    DeviceWindows {
        device: "boiler".into(),
        shown: "boiler".into(),
        windows,
        specs: BTreeMap::new(),
        has_secret: true,
        twice: BTreeSet::new(),
        aside: Aside::default(),
        received: 0,
        unordered: BTreeMap::new(),
        elsewhere: None,
        first_reading: None,
        forgotten: 0,
        other_unit: None,
        undeclared: BTreeMap::new(),
        logs: BTreeMap::new(),
        roots: BTreeMap::new(),
        complete: BTreeMap::new(),
    }
}

fn limit(plant: &Plant, name: &str) -> OnLimit {
    match declared::alarm(plant, name).unwrap().watched {
        Watched::Limit(on) => *on,
        Watched::Silence(_) => panic!("a limit"),
    }
}

#[test]
fn an_alarm_looks_at_the_shortest_stream_with_its_channels_and_units() {
    let folder = tempfile::tempdir().unwrap();
    let (mut plant, record) = plant(folder.path());
    let stream = |both: bool| {
        let mut streams = record.bundles[0].streams.iter();
        streams.find(|profile| (profile.channels.len() == 2) == both).unwrap().stream.clone()
    };
    let of = |both: bool, number, hours: std::ops::Range<i64>| {
        let all: Vec<i64> = hours.clone().collect();
        let readings: &[(&str, &[i64])] = if both { &[("x", &all), ("y", &all)] } else { &[("x", &all)] };
        let mut window = window_of_hours(0, number, hours, readings);
        window.stream = stream(both).into();
        window
    };
    // The hour that the day has and the shorter stream has not yet, and one before.
    let listed = listed(vec![of(false, 1, 7..8), of(true, 0, 0..9)]);
    let seen = |plant: &Plant, name: &str| {
        let found = of_alarm(plant, &limit(plant, name), i64::MIN, &record, &listed);
        let numbers: Vec<u64> = found.windows.iter().map(|window| window.sequence).collect();
        (numbers, found.unseen)
    };
    assert_eq!(seen(&plant, "hot"), (vec![1], None));
    let alarm = |plant: &mut Plant, name: &str, when: &str| {
        let settings = crate::alarm::AlarmSettings::new(when);
        plant.edit(|document| edit::add_alarm(document, name, &settings)).unwrap();
    };
    alarm(&mut plant, "spread", "mean(x) - mean(y) > 10");
    assert_eq!(seen(&plant, "spread"), (vec![0], None), "no shorter stream has both");
    // Another unit of y stops the alarms on y alone.
    plant
        .edit(|document| {
            document["channels"]["y"]["unit"] = toml_edit::value("%");
            document["alarms"]["spread"]["when"] = toml_edit::value("mean(y) > 10");
            Ok(())
        })
        .unwrap();
    assert_eq!(seen(&plant, "hot"), (vec![1], None));
    let (windows, unseen) = seen(&plant, "spread");
    let unseen = unseen.expect("a reason");
    assert!(
        windows.is_empty() && unseen.contains("y in the unit \"\"") && unseen.contains("renew boiler"),
        "{unseen}"
    );
    // The device does not send z.
    plant
        .edit(|document| {
            document["channels"]["z"] = document["channels"]["x"].clone();
            document["alarms"]["spread"]["when"] = toml_edit::value("mean(x) - mean(z) > 10");
            Ok(())
        })
        .unwrap();
    let (windows, unseen) = seen(&plant, "spread");
    assert!(windows.is_empty() && unseen.expect("a reason").contains("has x, z"));
}

/// A flood in the window that is open when the alarm is declared would be missed otherwise.
#[test]
fn a_new_alarm_looks_at_the_window_that_is_open() {
    const HOUR: i64 = 3_600_000;
    let folder = tempfile::tempdir().unwrap();
    let (plant, record) = plant(folder.path());
    let stream = record.bundles[0].streams.iter().find(|profile| profile.channels.len() == 1).unwrap();
    let of = |number, hours: std::ops::Range<i64>| {
        let all: Vec<i64> = hours.clone().collect();
        let mut window = window_of_hours(0, number, hours, &[("x", &all)]);
        window.stream = stream.stream.as_str().into();
        window
    };
    let listed = listed(vec![of(0, 0..6), of(1, 6..12), of(2, 12..18)]);
    let numbers = |since: i64| {
        let found = of_alarm(&plant, &limit(&plant, "hot"), since, &record, &listed);
        let mut state = DeviceState::default();
        let (new, _) = new_windows(found.windows, since, &listed, &mut state);
        new.windows.iter().map(|window| window.sequence).collect::<Vec<u64>>()
    };
    let start = listed.windows[0].group().from;
    assert_eq!(numbers(start + 8 * HOUR), [1, 2], "from 8 h: the window from 6 h to 12 h is open");
    assert_eq!(numbers(start + 12 * HOUR), [2], "one that ends at 12 h is over");
    assert_eq!(numbers(i64::MIN), [0, 1, 2]);
}
