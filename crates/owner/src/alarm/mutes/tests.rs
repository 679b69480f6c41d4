use super::*;
use crate::declared::{AlarmSettings, NewPlant};

const UNTIL: i64 = 4_102_444_800_000;

fn plant(folder: &tempfile::TempDir) -> (Plant, Declared) {
    let listen = "127.0.0.1:7410".parse().expect("an address");
    let here = NewPlant { cloud: None, listen, time_zone: Some("UTC".into()) };
    let mut plant = Plant::init(&folder.path().join("plant"), &here).expect("a plant");
    plant
        .edit(|document| edit::add_alarm(document, "dead", &AlarmSettings::new("silent for 3d")))
        .expect("an alarm");
    let declared = declared::alarm(&plant, "dead").expect("the alarm");
    (plant, declared)
}

fn order(by: &str) -> Order {
    Order { device: None, reason: None, by: by.to_owned() }
}

fn commands(plant: &Plant) -> Vec<String> {
    files::journal_end(plant).expect("the log").into_iter().map(|event| event.what).collect()
}

#[test]
fn a_line_that_a_killed_command_left_is_logged_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let (plant, declared) = plant(&folder);
    let line = Line { kind: EventKind::Muted, device: None, from: 0, to: UNTIL };
    let line = line.of(&plant, "dead", &declared, &order("sotto alarm mute")).expect("a line");
    let left = || {
        let mutes = Mutes {
            definition: files::definition(&declared),
            mutes: vec![Mute { device: None, until: UNTIL }],
            unlogged: vec![line.clone()],
            ..Mutes::default()
        };
        drop(lock(&plant).expect("the lock"));
        write_private(&file(&plant, "dead"), &pretty(&mutes).expect("JSON")).expect("the file");
    };
    // Killed before the log, and then killed after it: the file still has the line.
    for _ in 0..2 {
        left();
        for _ in 0..2 {
            let read = read_and_log(&plant, "dead", &declared).expect("mutes");
            assert_eq!((read.unlogged.len(), read.until("boiler", 0)), (0, Some(UNTIL)));
        }
        assert_eq!(commands(&plant), ["sotto alarm mute"]);
        assert!(Mutes::of(&plant, "dead", &declared).expect("mutes").unlogged.is_empty());
    }
}

#[test]
fn a_round_writes_no_mutes_of_an_alarm_that_was_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut plant, declared) = plant(&folder);
    mute(&plant, "dead", UNTIL, &order("sotto alarm mute")).expect("a mute");
    remove_alarm(&mut plant, "dead").expect("removed");
    assert_eq!(read_and_log(&plant, "dead", &declared).expect("none").mutes, []);
    assert!(!file(&plant, "dead").exists());
}

#[test]
fn mutes_of_an_earlier_version_are_of_the_alarm_there_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let (plant, declared) = plant(&folder);
    drop(lock(&plant).expect("the lock"));
    let text = format!(r#"{{"mutes": [{{"device": null, "until": {UNTIL}}}]}}"#);
    write_private(&file(&plant, "dead"), text.as_bytes()).expect("the file");
    assert_eq!(Mutes::of(&plant, "dead", &declared).expect("mutes").until("boiler", 0), Some(UNTIL));
    mute(&plant, "dead", UNTIL + 1, &order("sotto alarm mute")).expect("a mute");
    let other =
        Declared { settings: AlarmSettings { clear_after: 2, ..declared.settings.clone() }, ..declared };
    assert_eq!(Mutes::of(&plant, "dead", &other).expect("mutes").until("boiler", 0), None);
}

#[test]
fn commands_and_rounds_at_once_keep_both_files_whole() {
    const EACH: usize = 20;
    let folder = tempfile::tempdir().expect("a folder");
    let (plant, declared) = plant(&folder);
    std::thread::scope(|scope| {
        for device in ["a", "b", "c"] {
            let (plant, declared) = (&plant, &declared);
            scope.spawn(move || {
                for number in 0..EACH {
                    let _lock = lock(plant).expect("the lock");
                    let mut mutes = Mutes::of(plant, "dead", declared).expect("mutes");
                    mutes.mutes.push(Mute { device: Some(format!("{device}{number}")), until: UNTIL });
                    mutes.acknowledged.insert(format!("{device}{number}"), 0);
                    let line = Line { kind: EventKind::Muted, device: Some(device), from: 0, to: UNTIL };
                    let line = line.of(plant, "dead", declared, &order(&format!("{device}{number}")));
                    write(plant, "dead", &mut mutes, &[line.expect("a line")]).expect("written");
                }
            });
            scope.spawn(move || {
                for number in 0..EACH {
                    mute(plant, "dead", UNTIL, &order(&format!("{device} all {number}"))).expect("a mute");
                    read_and_log(plant, "dead", declared).expect("mutes");
                }
            });
        }
    });
    let mutes = Mutes::of(&plant, "dead", &declared).expect("a whole file");
    assert_eq!(
        (mutes.mutes.len(), mutes.acknowledged.len(), mutes.unlogged.len()),
        (3 * EACH + 1, 3 * EACH, 0)
    );
    let mut lines = commands(&plant);
    assert_eq!(lines.len(), 2 * 3 * EACH, "no line is lost, and none is cut");
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 2 * 3 * EACH, "each is there once");
}
