//! Mutes of alarms, and the deliveries that wait for their end.

use sotto_owner::Plant;
use sotto_owner::alarm::{AlarmSettings, Event, Order, Outbox, SinkKind};
use sotto_owner::edit::{add_alarm, add_device};

use super::alarms::plant;

#[test]
fn a_mute_delays_the_events_of_its_device_alone() {
    let folder = tempfile::tempdir().unwrap();
    let plant = plant(&folder, &AlarmSettings::new("temperature > 80"));
    let event = |id: &str, device: &str| -> Event {
        serde_json::from_str(&format!(
            r#"{{"version": 1, "id": "{id}", "alarm": "hot", "device": "{device}", "event": "raised", "when": "", "from": "", "to": "",
            "value": null, "bound": null, "unit": "", "readings": 1, "late": false, "at": "", "what": ""}}"#
        ))
        .unwrap()
    };
    let mut outbox = Outbox::open(&plant).unwrap();
    for (id, device) in [("a", "boiler"), ("b", "pump"), ("c", "boiler")] {
        outbox.add(&event(id, device), &[SinkKind::Exec], 0).unwrap();
    }
    let due = |outbox: &Outbox, now: i64| -> Vec<String> {
        outbox.due(now).into_iter().map(|delivery| delivery.event.id).collect()
    };
    assert!(outbox.hold("a", SinkKind::Exec, 10, 5_000).unwrap());
    assert_eq!(due(&outbox, 20), ["b"], "events of the boiler stay in order");
    let mut outbox = Outbox::open(&plant).unwrap();
    assert_eq!(
        (due(&outbox, 4_999), due(&outbox, 5_000)),
        (vec!["b".to_owned()], vec!["a".into(), "b".into(), "c".into()])
    );
    assert_eq!(outbox.due(5_000)[0].attempts, 0, "nothing was attempted");
    // The mute ends early.
    outbox.release(30, |_| true).unwrap();
    assert_eq!(due(&outbox, 30), ["b"]);
    outbox.release(30, |_| false).unwrap();
    assert_eq!(due(&outbox, 30), ["a", "b", "c"]);
    let week = 7 * 86_400_000;
    assert!(outbox.hold("a", SinkKind::Exec, 40, 2 * week).unwrap());
    assert_eq!(due(&outbox, week), ["a", "b", "c"], "it waits for seven days at most");
    assert!(!outbox.hold("a", SinkKind::Exec, week, 2 * week).unwrap(), "it is dropped");
    assert_eq!(due(&outbox, week), ["b", "c"]);
}

#[test]
fn mutes_belong_to_an_alarm_and_its_devices() {
    let folder = tempfile::tempdir().unwrap();
    let mut plant = plant(&folder, &AlarmSettings::new("temperature > 80"));
    plant.edit(|settings| add_device(settings, "gauge", &["slow".into()])).unwrap();
    let order = |device: Option<&str>| Order {
        device: device.map(str::to_owned),
        reason: Some("filters".into()),
        by: "sotto alarm mute --for 1d".into(),
    };
    let (now, hour) = (jiff::Timestamp::now().as_millisecond(), 3_600_000);
    let until = |plant: &Plant, device: &str, at: i64| plant.alarm_muted_until("hot", device, at).unwrap();
    let wrong = plant.mute_alarm("hot", now + hour, &order(Some("gauge"))).unwrap_err().to_string();
    assert!(wrong.contains("hot is not about gauge: it is about boiler"), "{wrong}");
    let line = plant.mute_alarm("hot", now + hour, &order(Some("boiler"))).unwrap();
    assert!(line.text().ends_with(": filters (sotto alarm mute --for 1d)"), "{}", line.text());
    assert_eq!((until(&plant, "boiler", now), until(&plant, "pump", now)), (Some(now + hour), None));
    assert_eq!(until(&plant, "boiler", now + hour), None);
    // Somebody takes the alarm out of sotto.toml and declares another one of its name.
    let declare = |plant: &mut Plant, alarm: &AlarmSettings| {
        plant
            .edit(|settings| {
                sotto_owner::edit::remove_alarm(settings, "hot")?;
                add_alarm(settings, "hot", alarm)
            })
            .unwrap();
    };
    declare(&mut plant, &AlarmSettings::new("temperature > 90"));
    assert_eq!(until(&plant, "boiler", now), None, "it was not born muted");
    // Times of sotto.toml, and a command that ends within them.
    let nights = AlarmSettings { mute: Some("22:00-06:00".into()), ..AlarmSettings::new("temperature > 90") };
    declare(&mut plant, &nights);
    let at = |text: &str| text.parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let (evening, night, morning) =
        (at("2099-05-04T21:30:00+02:00"), at("2099-05-04T23:15:10+02:00"), at("2099-05-05T06:00:00+02:00"));
    assert_eq!((until(&plant, "boiler", evening), until(&plant, "boiler", night)), (None, Some(morning)));
    plant.mute_alarm("hot", night, &order(None)).unwrap();
    assert_eq!(until(&plant, "boiler", evening), Some(morning), "one follows the other");
    let file = plant.folder().join("alarms/mutes/hot.json");
    assert!(plant.remove_alarm("cold").is_err() && file.exists());
    plant.remove_alarm("hot").unwrap();
    assert!(!file.exists());
}
