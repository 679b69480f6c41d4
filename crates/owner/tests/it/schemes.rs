//! Schemes that questions state: streams, parameters, and what is refused.

use sotto_owner::edit::{add_channel, add_device, add_public_device, add_question};
use sotto_owner::question::{ExactScheme, Question};
use sotto_owner::settings::{ChannelSettings, QuestionSettings};
use sotto_owner::{Chosen, Kind, NewPlant, OwnerError, Plant, Way, stream_report};

/// Makes a plant with hourly channels `heat` and `flow`; `comparable` names those that the cloud compares.
fn plant(folder: &tempfile::TempDir, comparable: &[&str]) -> Plant {
    let here = NewPlant { cloud: None, listen: "127.0.0.1:7410".parse().unwrap(), time_zone: None };
    let mut plant = Plant::init(&folder.path().join("plant"), &here).unwrap();
    for name in ["heat", "flow"] {
        let (range, every) = ("0..100".parse().unwrap(), "1h".parse().unwrap());
        let comparable = comparable.contains(&name);
        let channel = ChannelSettings { comparable, ..ChannelSettings::new("kW", range, 0.5, every) };
        plant.edit(|settings| add_channel(settings, name, &channel)).unwrap();
    }
    plant
}

fn declare(plant: &mut Plant, name: &str, text: &str, scheme: Option<ExactScheme>) -> Result<(), OwnerError> {
    let settings = QuestionSettings { scheme, ..text.into() };
    plant.edit(|document| add_question(document, name, &settings))
}

/// Adds a device with both channels, and returns its streams: name, scheme, channels and questions.
fn streams(plant: &mut Plant, public: bool) -> Vec<(String, &'static str, String, String)> {
    let channels = ["heat".to_owned(), "flow".to_owned()];
    let add = if public { add_public_device } else { add_device };
    plant.edit(|settings| add(settings, "boiler", &channels)).unwrap();
    let row = |chosen: &Chosen| {
        let stream = &chosen.stream;
        (stream.name(), chosen.scheme(), stream.channels.join(" "), stream.questions.join(" "))
    };
    plant.planned_streams(None).unwrap()["boiler"].iter().map(row).collect()
}

fn row(
    name: &str,
    scheme: &'static str,
    channels: &str,
    questions: &str,
) -> (String, &'static str, String, String) {
    (name.to_owned(), scheme, channels.to_owned(), questions.to_owned())
}

#[test]
fn a_question_with_a_scheme_has_a_stream_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = plant(&folder, &[]);
    declare(&mut plant, "added", "stddev(heat), mean(flow)", None).unwrap();
    declare(&mut plant, "bfv", "stddev(heat)", Some(ExactScheme::Bfv)).unwrap();
    declare(
        &mut plant,
        "bgv",
        "covariance(heat, flow), mean(polynomial(heat, [0, 0, 1]))",
        Some(ExactScheme::Bgv),
    )
    .unwrap();
    let found = streams(&mut plant, false);
    let expected = [
        row("exact-1h", "sums", "heat flow", "added"),
        // In ciphertexts a channel costs room, so only those asked for are sent.
        row("bfv-1h", "BFV", "heat", "bfv"),
        row("bgv-1h", "BGV", "heat flow", "bgv"),
        row("real-1h", "CKKS", "heat", "bgv"),
    ];
    assert_eq!(found, expected);
    // One question alone: the streams of its text, under its scheme.
    let alone = plant.planned_streams(Some("bfv")).unwrap();
    assert_eq!(alone["boiler"].iter().map(Chosen::scheme).collect::<Vec<_>>(), ["BFV"]);
    let texts = plant.planned_streams(Some("stddev(heat)")).unwrap();
    assert_eq!(texts["boiler"].iter().map(Chosen::scheme).collect::<Vec<_>>(), ["sums"]);
}

/// Readings that a stated scheme carries are not sent in sums as well: other questions take them from the ciphertexts.
#[test]
fn readings_under_a_scheme_are_sent_once_more_only_if_asked() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = plant(&folder, &[]);
    declare(&mut plant, "daily", "mean(heat) by day", Some(ExactScheme::Bgv)).unwrap();
    let found = streams(&mut plant, false);
    assert_eq!(found, [row("exact-1h", "sums", "flow", ""), row("bgv-1h", "BGV", "heat", "daily")]);
}

#[test]
fn comparable_channels_are_compared_under_the_stated_scheme() {
    for scheme in ExactScheme::ALL {
        let folder = tempfile::tempdir().unwrap();
        let mut plant = plant(&folder, &["heat", "flow"]);
        declare(&mut plant, "hot", "count(heat > 80)", Some(scheme)).unwrap();
        declare(&mut plant, "wet", "count(flow > 80)", None).unwrap();
        let found = streams(&mut plant, false);
        let (name, word) = (scheme.to_string(), scheme.word());
        let schemes: Vec<(&str, &str)> = found.iter().map(|row| (row.0.as_str(), row.2.as_str())).collect();
        // Steps under the scheme serve questions without one too.
        let expected = [
            ("exact-1h", "heat flow"),
            (if word == "bfv" { "bfv-1h" } else { "bgv-1h" }, "heat"),
            ("steps-1h", "flow"),
            (if word == "bfv" { "steps-bfv-1h" } else { "steps-bgv-1h" }, "heat"),
        ];
        assert_eq!(schemes, expected);
        assert!(found.iter().filter(|row| row.0.contains(word)).all(|row| row.1 == name), "{found:?}");
    }
}

/// A device with public keys sends whole ciphertexts anyway: questions with and without a scheme share them.
#[test]
fn devices_with_public_keys_send_one_stream_under_the_stated_scheme() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = plant(&folder, &[]);
    declare(&mut plant, "added", "mean(flow)", None).unwrap();
    declare(&mut plant, "stated", "stddev(heat)", Some(ExactScheme::Bgv)).unwrap();
    let found = streams(&mut plant, true);
    assert_eq!(found, [row("bgv-1h", "BGV", "heat flow", "stated added")]);
}

#[test]
fn each_row_says_its_way_and_the_bytes_of_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = plant(&folder, &["flow"]);
    declare(&mut plant, "added", "stddev(heat)", None).unwrap();
    declare(&mut plant, "bfv", "stddev(heat)", Some(ExactScheme::Bfv)).unwrap();
    declare(&mut plant, "curve", "mean(polynomial(heat, [0, 0, 1]))", None).unwrap();
    let planned = plant.planned_streams(None).unwrap();
    let [streams] = planned.values().collect::<Vec<_>>()[..] else { panic!("one device") };
    for chosen in streams {
        let report = stream_report(chosen);
        assert_eq!(report.way == Way::Added, chosen.spec.is_none());
        assert_eq!(
            (report.why.as_str(), report.other_way.is_some()),
            match chosen.stream.kind {
                Kind::Exact if chosen.spec.is_none() => ("the cloud multiplies nothing", true),
                Kind::Exact => ("a question says scheme = \"bfv\"", true),
                Kind::Real => ("the cloud multiplies, for polynomials and models", false),
                Kind::Steps => ("the cloud multiplies, to compare with limits chosen later", false),
            }
        );
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["way"], if chosen.spec.is_none() { "added" } else { "evaluated" });
        assert_eq!(json["other_way"]["window_bytes"].is_u64(), report.other_way.is_some());
    }
    // The bytes of the way not taken are those of the choice that the other question takes.
    let of =
        |name: &str| plant.planned_streams(Some(name)).unwrap().remove("a device with all channels").unwrap();
    let [added, bfv] = ["added", "bfv"].map(|name| of(name).remove(0));
    let of_sums = bfv.other_way().unwrap();
    assert!(of_sums.scheme == "sums" && of_sums.window_bytes.unwrap() * 50 < bfv.window_bytes);
    assert_eq!(added.other_way().unwrap().scheme, "BFV");
    assert!(added.other_way().unwrap().window_bytes.unwrap() >= bfv.window_bytes);
}

#[test]
fn a_scheme_is_kept_in_the_file_and_in_the_question() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = plant(&folder, &[]);
    declare(&mut plant, "daily", "mean(heat) by day", Some(ExactScheme::Bfv)).unwrap();
    let text = std::fs::read_to_string(plant.folder().join("sotto.toml")).unwrap();
    let line = "daily = { text = \"mean(heat) by day\", scheme = \"bfv\" }";
    assert!(text.contains(line), "{text}");
    let question = plant.question("daily").unwrap();
    assert_eq!(question.scheme, Some(ExactScheme::Bfv));
    assert_eq!(plant.question_between("daily", Some("2024-01-01"), None).unwrap().scheme, question.scheme);
    assert_eq!(plant.question("mean(heat) by day").unwrap().scheme, None);
    let built = Question::parse("mean(heat) by day").unwrap();
    assert_eq!(Question { scheme: Some(ExactScheme::Bfv), ..built }, question);
    // By hand, as a table of its own.
    let by_hand = text.replace(line, "[questions.daily]\ntext = \"mean(heat) by day\"\nscheme = \"bgv\"\n");
    std::fs::write(plant.folder().join("sotto.toml"), by_hand).unwrap();
    let plant = Plant::open(plant.folder()).unwrap();
    assert_eq!(plant.question("daily").unwrap().scheme, Some(ExactScheme::Bgv));
}

#[test]
fn a_scheme_needs_an_exact_result() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = plant(&folder, &[]);
    let before = std::fs::read_to_string(plant.folder().join("sotto.toml")).unwrap();
    let curve = "mean(polynomial(heat, [0, 0, 1]))";
    let refused = declare(&mut plant, "curve", curve, Some(ExactScheme::Bfv)).unwrap_err().to_string();
    assert!(refused.contains("leave it out") && refused.contains("CKKS"), "{refused}");
    assert_eq!(std::fs::read_to_string(plant.folder().join("sotto.toml")).unwrap(), before);
    // Beside an exact result it holds for that alone.
    declare(&mut plant, "both", &format!("mean(heat), {curve}"), Some(ExactScheme::Bfv)).unwrap();
}

/// Readings of a wide range do not fit a plain modulus of 58 bits; the sums of the other way take two places.
#[test]
fn a_scheme_that_cannot_carry_a_question_is_refused_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = plant(&folder, &[]);
    let (range, every) = ("0..1000000000".parse().unwrap(), "1h".parse().unwrap());
    let counter = ChannelSettings::new("", range, 1.0, every);
    plant.edit(|settings| add_channel(settings, "counter", &counter)).unwrap();
    declare(&mut plant, "wide", "stddev(counter)", Some(ExactScheme::Bfv)).unwrap();
    let refused = plant.planned_streams(Some("wide")).unwrap_err().to_string();
    assert!(
        refused.contains("plain modulus") && refused.contains("take `scheme` from the question"),
        "{refused}"
    );
    assert!(plant.planned_streams(Some("stddev(counter)")).is_ok());
}
