//! Questions for a plant: their times, their streams, kept answers.

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

#[test]
fn the_latest_answer_needs_one() {
    let folder = tempfile::tempdir().unwrap();
    assert!(plant(&folder).latest_answer().unwrap_err().to_string().contains("ask first"));
}
