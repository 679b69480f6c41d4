//! The streams of a device: which channels share windows.

use std::collections::{BTreeMap, BTreeSet};

use sotto_owner::settings::{ChannelSettings, DeviceSettings};
use sotto_owner::{Change, Chosen, NewPlant, Plant, Way, edit};
use sotto_pack::{Span, WindowDescription};

fn plant(folder: &std::path::Path, channels: &[String], every: &str) -> Plant {
    let new = NewPlant { cloud: None, listen: "127.0.0.1:7410".parse().unwrap(), time_zone: None };
    let mut plant = Plant::init(&folder.join("plant"), &new).unwrap();
    let channel = ChannelSettings::new("°C", "-20..120".parse().unwrap(), 0.1, every.parse().unwrap());
    plant
        .edit(|document| channels.iter().try_for_each(|name| edit::add_channel(document, name, &channel)))
        .unwrap();
    plant
}

fn ask(plant: &mut Plant, name: &str, text: &str) {
    plant.edit(|document| edit::add_question(document, name, &text.into())).unwrap();
}

fn alarm(plant: &mut Plant, name: &str, when: &str) {
    plant
        .edit(|document| {
            document["alarms"][name]["when"] = toml_edit::value(when);
            Ok(())
        })
        .unwrap();
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|at| format!("c{at}")).collect()
}

fn streams(plant: &Plant, channels: &[String]) -> Vec<Chosen> {
    let device = DeviceSettings { channels: channels.to_vec(), public: false, tags: Vec::new(), wire: None };
    plant.streams_for("boiler", &device).unwrap()
}

/// Returns the name, span and channels of each stream.
fn shown(streams: &[Chosen]) -> Vec<(String, Span, String)> {
    let of = |chosen: &Chosen| (chosen.stream.name(), chosen.cut.span, chosen.stream.channels.join(" "));
    streams.iter().map(of).collect()
}

fn row(name: &str, span: Span, channels: &str) -> (String, Span, String) {
    (name.to_owned(), span, channels.to_owned())
}

#[test]
fn an_alarm_shortens_the_windows_of_its_channels_alone() {
    let folder = tempfile::tempdir().unwrap();
    let channels = names(4);
    let mut plant = plant(folder.path(), &channels, "5m");
    ask(&mut plant, "daily", "mean(c0), stddev(c1) by day");
    let before = streams(&plant, &channels);
    assert_eq!(shown(&before), [row("exact-5m", Span::Day, "c0 c1 c2 c3")]);
    alarm(&mut plant, "hot", "c1 > 80");
    let after = streams(&plant, &channels);
    let expected = [row("exact-5m", Span::Day, "c0 c2 c3"), row("exact-5m-2", Span::Hour, "c1")];
    assert_eq!(shown(&after), expected);
    // stddev(c1) follows from windows of an hour; the others are sent as before.
    assert!(after.iter().all(|stream| stream.stream.needs.squares));
    assert_eq!(after[0].cut, before[0].cut);
    // Each is sent once: the places of c1 are only moved.
    let prices = |streams: &[Chosen]| vec![("boiler".to_owned(), sotto_owner::Price::of(streams))];
    let change = Change::all(&prices(&before), &prices(&after)).remove(0);
    let changed: BTreeSet<&str> = change.channels().into_iter().flat_map(|change| change.names).collect();
    assert_eq!(changed, BTreeSet::from(["c1"]));
}

#[test]
fn a_result_of_both_is_in_windows_of_a_day() {
    let folder = tempfile::tempdir().unwrap();
    let channels = names(3);
    let mut plant = plant(folder.path(), &channels, "5m");
    ask(&mut plant, "daily", "covariance(c0, c1), mean(c1) by day");
    alarm(&mut plant, "hot", "c1 > 80");
    let found = streams(&plant, &channels);
    // c1 is sent twice: with c0, and by the hour.
    let expected = [row("exact-5m", Span::Day, "c0 c1 c2"), row("exact-5m-2", Span::Hour, "c1")];
    assert_eq!(shown(&found), expected);
    assert_eq!(found[0].stream.needs.products.len(), 1);
    assert!(found[1].stream.needs.products.is_empty());
    let price = sotto_owner::Price::of(&found);
    assert_eq!((price.channels["c0"].sent, price.channels["c1"].sent), (1, 2));
    assert_eq!((price.channels["c0"].windows_a_day, price.channels["c1"].windows_a_day), (1.0, 24.0));
    // An alarm about the results of both names both.
    alarm(&mut plant, "both", "covariance(c0, c1) > 1");
    let found = streams(&plant, &channels);
    assert_eq!(shown(&found), [row("exact-5m", Span::Day, "c2"), row("exact-5m-2", Span::Hour, "c0 c1")]);
}

#[test]
fn reals_by_the_hour_have_a_stream_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let channels = names(2);
    let mut plant = plant(folder.path(), &channels, "5m");
    ask(&mut plant, "daily", "mean(polynomial(c0, [0, 1, 2])) by day");
    alarm(&mut plant, "hot", "mean(polynomial(c1, [0, 1, 2])) > 80");
    let found = streams(&plant, &channels);
    assert_eq!(shown(&found), [row("real-5m", Span::Day, "c0"), row("real-5m-2", Span::Hour, "c1")]);
}

#[test]
fn two_hundred_channels_are_divided_into_streams_of_sums() {
    let folder = tempfile::tempdir().unwrap();
    let channels = names(200);
    for (every, most) in [("5m", 6), ("1m", 12), ("1h", 4)] {
        let folder = folder.path().join(every);
        std::fs::create_dir(&folder).unwrap();
        let mut plant = plant(&folder, &channels, every);
        ask(&mut plant, "one", "mean(c17)");
        ask(&mut plant, "both", "correlation(c3, c198) by day");
        let found = streams(&plant, &channels);
        let windows: u64 = found.iter().map(Chosen::windows_a_day).sum();
        assert!(windows <= most, "{every}: {:?}", shown(&found));
        let mut of: BTreeMap<&str, usize> = BTreeMap::new();
        for stream in &found {
            assert_eq!(stream.way(), Way::Added);
            let description = WindowDescription::longest(&stream.layout, true);
            assert!(description.to_json().is_ok(), "an agent takes it");
            stream.stream.channels.iter().for_each(|name| *of.entry(name).or_default() += 1);
        }
        assert!(of.len() == 200 && of.values().all(|count| *count == 1), "each once");
        let with =
            |name: &str| found.iter().position(|stream| stream.stream.channels.iter().any(|c| c == name));
        assert_eq!(with("c3"), with("c198"));
        let names: BTreeSet<String> = found.iter().map(|stream| stream.stream.name()).collect();
        assert_eq!(names.len(), found.len());
    }
}

#[test]
fn the_channels_of_an_alarm_stay_in_one_stream() {
    let folder = tempfile::tempdir().unwrap();
    let channels = names(200);
    let mut plant = plant(folder.path(), &channels, "5m");
    for (at, name) in channels.iter().enumerate() {
        alarm(&mut plant, &format!("hot{at}"), &format!("{name} > 80"));
    }
    let of = |plant: &Plant, name: &str| -> Vec<String> {
        let has = |chosen: &&Chosen| chosen.stream.channels.iter().any(|own| own == name);
        streams(plant, &channels).iter().filter(has).map(|chosen| chosen.stream.name()).collect()
    };
    let apart = [of(&plant, "c0"), of(&plant, "c199")];
    assert_ne!(apart[0], apart[1], "200 channels take several streams");
    plant.edit(|document| edit::add_device(document, "boiler", &channels)).unwrap();
    plant.enrol("boiler", &folder.path().join("boiler.bundle")).unwrap();
    alarm(&mut plant, "spread", "mean(c0) - mean(c199) > 10");
    assert_eq!(of(&plant, "c0"), of(&plant, "c199"));
    // The bundle of before sends both means, and no window has both.
    let spread = plant.alarm("spread").unwrap().streams().unwrap();
    let lacking = plant.carried_by("alarm spread", &spread).unwrap()[0].1.clone().unwrap();
    assert!(lacking.contains("c0, c199 in windows of several streams"), "{lacking}");
    let hot = plant.alarm("hot7").unwrap().streams().unwrap();
    assert_eq!(plant.carried_by("alarm hot7", &hot).unwrap()[0].1, None);
}
