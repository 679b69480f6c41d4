//! Plans with wishes: windows of another length, another level of security.

use std::collections::BTreeMap;

use sotto_owner::edit::{add_alarm, add_channel, add_device, add_question};
use sotto_owner::question::ExactScheme;
use sotto_owner::settings::{ChannelSettings, QuestionSettings};
use sotto_owner::{Chosen, NewPlant, Plant, SecurityLevel, Wishes, alarm::AlarmSettings, stream_report};

const MINUTE: u32 = 60_000;
const HOUR: u32 = 60 * MINUTE;

/// Makes a plant whose device reads `heat` every 5 minutes and `energy` every 15.
fn plant(folder: &tempfile::TempDir, questions: &[(&str, &str, Option<ExactScheme>)]) -> Plant {
    let here = NewPlant { cloud: None, listen: "127.0.0.1:7410".parse().unwrap(), time_zone: None };
    let mut plant = Plant::init(&folder.path().join("plant"), &here).unwrap();
    for (name, every) in [("heat", "5m"), ("energy", "15m")] {
        let (range, every) = ("0..100".parse().unwrap(), every.parse().unwrap());
        let channel = ChannelSettings::new("kW", range, 0.5, every);
        plant.edit(|settings| add_channel(settings, name, &channel)).unwrap();
    }
    let channels = ["heat".to_owned(), "energy".to_owned()];
    plant.edit(|settings| add_device(settings, "boiler", &channels)).unwrap();
    for (name, text, scheme) in questions {
        let settings = QuestionSettings { scheme: *scheme, ..(*text).into() };
        plant.edit(|document| add_question(document, name, &settings)).unwrap();
    }
    plant
}

fn longest(window_ms: u32) -> Wishes {
    Wishes { window_ms: Some(window_ms), ..Wishes::default() }
}

/// Returns the milliseconds of a window of each stream, by its name.
fn windows(streams: &[Chosen]) -> BTreeMap<String, u64> {
    streams.iter().map(|chosen| (chosen.stream.name(), chosen.window_ms())).collect()
}

#[test]
fn a_plan_without_wishes_is_the_one_that_devices_get() {
    let folder = tempfile::tempdir().unwrap();
    let plant = plant(
        &folder,
        &[("curve", "mean(polynomial(heat, [0, 0, 1]))", None), ("sums", "mean(energy)", None)],
    );
    let planned = plant.planned_with(None, Wishes::default()).unwrap();
    assert!(planned.impossible.is_empty() && planned.unsent.is_empty());
    let reports = |streams: &[Chosen]| streams.iter().map(stream_report).collect::<Vec<_>>();
    let usual = plant.planned_streams(None).unwrap();
    assert_eq!(reports(&planned.streams["boiler"]), reports(&usual["boiler"]));
}

#[test]
fn windows_are_as_short_as_wished_and_questions_that_lack_them_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let questions = [("hourly", "mean(heat) by hour", None), ("used", "mean(energy) by day", None)];
    let mut plant = plant(&folder, &questions);
    let hot = AlarmSettings::new("heat > 80 for 2 windows");
    plant.edit(|settings| add_alarm(settings, "hot", &hot)).unwrap();
    let before = std::fs::read_to_string(plant.folder().join("sotto.toml")).unwrap();

    let six_hours = plant.planned_with(None, longest(6 * HOUR)).unwrap();
    assert!(six_hours.impossible.is_empty(), "{:?}", six_hours.impossible);
    // Those of an alarm and a question by hour stay as short as they are.
    let both = [("exact-15m".to_owned(), 6 * u64::from(HOUR)), ("exact-5m".to_owned(), u64::from(HOUR))];
    assert_eq!(windows(&six_hours.streams["boiler"]), BTreeMap::from(both));

    let half = plant.planned_with(None, longest(30 * MINUTE)).unwrap();
    assert!(half.impossible.is_empty());
    assert!(windows(&half.streams["boiler"]).values().all(|window| *window == u64::from(30 * MINUTE)));
    let bytes = |streams: &[Chosen]| streams.iter().map(Chosen::bytes_a_day).sum::<u64>();
    assert!(bytes(&half.streams["boiler"]) > bytes(&plant.planned_streams(None).unwrap()["boiler"]));

    let short = plant.planned_with(None, longest(10 * MINUTE)).unwrap();
    assert_eq!(short.impossible.keys().collect::<Vec<_>>(), ["used"]);
    assert!(
        short.impossible["used"]
            .contains("readings of energy come every 15m: a window of 10m would hold none")
    );
    assert_eq!(short.unsent[0].channels, ["energy"]);
    // Ciphertexts have windows of the wished length, too.
    let curve = plant.planned_with(Some("mean(polynomial(heat, [0, 0, 1]))"), longest(30 * MINUTE)).unwrap();
    assert_eq!(curve.streams["boiler"][0].cut.ticks, 6);
    assert_eq!(std::fs::read_to_string(plant.folder().join("sotto.toml")).unwrap(), before);
}

#[test]
fn a_question_that_cannot_be_read_is_named_and_the_others_are_planned() {
    let folder = tempfile::tempdir().unwrap();
    let plant = plant(&folder, &[("fine", "mean(heat) by 15m", None), ("daily", "mean(heat) by day", None)]);
    let slower = plant
        .edited(|settings| sotto_owner::edit::change_channel(settings, "heat", 0.5, "1h".parse().unwrap()))
        .unwrap();
    let planned = slower.planned_with(None, Wishes::default()).unwrap();
    assert_eq!(planned.impossible.keys().collect::<Vec<_>>(), ["fine"]);
    assert!(planned.streams["boiler"].iter().any(|chosen| chosen.stream.questions == ["daily"]));
}

#[test]
fn more_security_takes_larger_ciphertexts_within_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let curve = "mean(polynomial(heat, [0, 0, 1]))";
    let plant = plant(
        &folder,
        &[
            ("curve", curve, None),
            ("bfv", "stddev(heat)", Some(ExactScheme::Bfv)),
            ("sums", "mean(energy)", None),
        ],
    );
    let at = |security| plant.planned_with(None, Wishes { security, ..Wishes::default() }).unwrap();
    let mut before: BTreeMap<String, usize> = BTreeMap::new();
    for security in SecurityLevel::ALL {
        let planned = at(security);
        assert!(planned.impossible.is_empty(), "{security:?}: {:?}", planned.impossible);
        for chosen in &planned.streams["boiler"] {
            let report = stream_report(chosen);
            match &chosen.spec {
                None => assert_eq!(report.security_bits, 256),
                Some(spec) => {
                    assert_eq!(report.security_bits, security.bits());
                    let profile = sotto_rlwe::SecurityProfile::Guidelines2024;
                    let limit = sotto_rlwe::largest_modulus_bits(profile, security, spec.degree).unwrap();
                    assert!(spec.modulus_bit_length() <= limit, "{security:?}: {spec:?}");
                    let was = before.insert(report.stream.clone(), chosen.key_bytes + chosen.window_bytes);
                    assert!(
                        was.is_none_or(|was| was <= chosen.key_bytes + chosen.window_bytes),
                        "{security:?}: {report:?}"
                    );
                }
            }
        }
    }
    assert_eq!(before.len(), 2, "{before:?}");
}
