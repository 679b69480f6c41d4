#![allow(clippy::unwrap_used)]

use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyModifiers};
use ratatui::style::Color;
use serde_json::json;
use sotto_owner::alarm::{AlarmStatus, DeviceAlarm, Event};
use sotto_owner::{ChannelStatus, DeviceStatus, LateStream, Trouble};

use super::columns::Paint;
use super::draw::draw;
use super::look::{Failure, Look};
use super::plain::{plain, rendered};
use super::state::{Page, State, Then};

/// 2026-11-29T12:00:00Z.
const NOW: i64 = 1_795_953_600_000;

fn device(name: &str) -> DeviceStatus {
    let channel = ChannelStatus {
        channel: "temperature".to_owned(),
        readings: 12_000,
        missing: 7,
        from: None,
        to: None,
        oldest: None,
        newest: None,
        newest_ms: Some(NOW - 180_000),
        window_ms: Some(3_600_000),
        left_out: serde_json::from_value(json!({"out-of-range": 3})).unwrap(),
    };
    DeviceStatus {
        device: name.to_owned(),
        enrolled: true,
        windows: 40,
        received: 42,
        without_secret: 0,
        bytes: 36_000,
        heard_at: None,
        heard_ms: Some(NOW - 60_000),
        late: false,
        late_stream: None,
        newest_ms: Some(NOW - 180_000),
        window_ms: Some(3_600_000),
        channels: vec![channel],
        generated: 0,
        recoveries: 0,
        recovered_at: None,
        repeated_masks: 0,
        repeated_at: None,
        taken_numbers: 0,
        taken_at: None,
        revoked: false,
        unusable: 0,
        earlier: 0,
        listed: true,
        troubles: Vec::new(),
    }
}

fn event(at: &str, what: &str) -> Event {
    serde_json::from_value(json!({
        "version": 1, "id": at, "alarm": "cold", "device": "cellar", "event": "raised", "when": "temperature < 5",
        "from": "2026-11-29T10:00:00Z", "to": "2026-11-29T11:00:00Z", "value": 3.0, "bound": 0.0, "unit": "", "readings": 60,
        "late": false, "at": at, "what": what
    }))
    .unwrap()
}

fn alarm(events: Vec<Event>) -> AlarmStatus {
    let about = DeviceAlarm {
        device: "cellar".to_owned(),
        raised_since: Some("2026-11-29T10:00:00Z".to_owned()),
        run: 1,
        needed: 1,
        run_since: None,
        last: None,
        value: None,
        failing: None,
        put_aside: 0,
        muted_until: None,
        muted_now: false,
        acknowledged: false,
    };
    AlarmStatus { alarm: "cold".to_owned(), when: "temperature < 5".to_owned(), devices: vec![about], events }
}

fn look(devices: Vec<DeviceStatus>) -> Look {
    let events = vec![event("2026-11-29T11:05:00Z", "3 of 60 readings < 5 °C")];
    Look {
        at: NOW,
        plant: "house".to_owned(),
        cloud: "http://127.0.0.1:7460".to_owned(),
        devices: Ok(devices),
        alarms: vec![("cold".to_owned(), Ok(alarm(events)))],
    }
}

fn house() -> State {
    let mut late = device("cellar");
    late.late = true;
    late.late_stream =
        Some(LateStream { stream: "exact-1h".to_owned(), newest_ms: NOW - 36_000_000, window_ms: 3_600_000 });
    let mut broken = device("door");
    let error = "the record of door is damaged: `sotto device restore door` brings it back".to_owned();
    broken.troubles.push(Trouble { error, exit_code: 3 });
    let mut state = State::new(Duration::from_secs(5));
    state.take(look(vec![late, broken, device("thermometer")]));
    state
}

fn screen(state: &mut State, width: u16) -> Vec<String> {
    rendered(state, (width, 24), NOW).unwrap()
}

fn press(state: &mut State, key: KeyCode) -> Then {
    state.key(key, KeyModifiers::NONE)
}

#[test]
fn narrow_screens_have_fewer_columns_and_lose_no_device() {
    for (width, there, missing) in [
        (
            60,
            &["device", "state", "window", "readings", "alarms"][..],
            &["B/reading", "left out", "trouble", "heard"][..],
        ),
        (100, &["B/reading", "missing", "left out", "alarms"], &["heard", "windows", "trouble"]),
        (200, &["heard", "windows", "left out", "trouble"], &[]),
    ] {
        let lines = screen(&mut house(), width);
        let all = lines.join("\n");
        let heading = lines.iter().find(|line| line.starts_with("device")).unwrap_or_else(|| panic!("{all}"));
        assert!(there.iter().all(|column| heading.contains(column)), "{width}: {heading}");
        assert!(missing.iter().all(|column| !heading.contains(column)), "{width}: {heading}");
        for (device, state) in [("cellar", "late"), ("door", "trouble"), ("thermometer", "ok")] {
            let row = lines.iter().find(|line| line.starts_with(device)).unwrap_or_else(|| panic!("{all}"));
            assert!(row.contains(state) && row.contains("3 min") && row.contains("12,000"), "{width}: {row}");
        }
        let cellar = lines.iter().find(|line| line.starts_with("cellar")).unwrap();
        assert!(cellar.contains("cold"), "the alarm that lasts: {cellar}");
        assert!(lines[0].starts_with("house  cloud http://127.0.0.1:7460: reachable"), "{}", lines[0]);
        assert!(lines[1].starts_with("3 devices, 1 trouble, 1 late, 1 alarm lasting"), "{}", lines[1]);
        assert!(all.contains("55 min  ALARM cold, cellar: 3 of 60 readings"), "{all}");
        assert!(lines.iter().all(|line| line.chars().count() <= width.into()));
    }
    let wide = screen(&mut house(), 200).join("\n");
    assert!(
        wide.contains("the record of door is damaged") && wide.contains("late: the newest window"),
        "{wide}"
    );
    assert!(wide.contains(" 3.0 "), "36,000 bytes of 12,000 readings: {wide}");
}

#[test]
fn keys_select_show_and_end() {
    let mut state = house();
    let selected = |state: &State| state.device().unwrap().device.clone();
    assert_eq!(selected(&state), "cellar");
    assert_eq!(press(&mut state, KeyCode::Up), Then::GoOn);
    assert_eq!(selected(&state), "cellar", "the first one");
    press(&mut state, KeyCode::Char('j'));
    assert_eq!(selected(&state), "door");
    (0..9).for_each(|_| assert_eq!(press(&mut state, KeyCode::Down), Then::GoOn));
    assert_eq!(selected(&state), "thermometer", "the last one");
    press(&mut state, KeyCode::Char('k'));
    press(&mut state, KeyCode::Enter);
    assert_eq!(state.page, Page::Device);
    // Long lines are broken between words.
    let page = screen(&mut state, 60).join(" ");
    assert!(page.contains("`sotto device restore door`") && page.contains("3 out of range"), "{page}");
    assert!(!page.contains("thermometer"), "{page}");
    assert_eq!(press(&mut state, KeyCode::Esc), Then::GoOn);
    assert_eq!((state.page, selected(&state).as_str()), (Page::Devices, "door"));
    press(&mut state, KeyCode::Char('?'));
    assert!(screen(&mut state, 60).join("\n").contains("B/reading  bytes of the windows"));
    press(&mut state, KeyCode::Char('?'));
    assert_eq!(state.page, Page::Devices);
    assert_eq!(press(&mut state, KeyCode::Char('r')), Then::Look);
    assert_eq!(press(&mut state, KeyCode::Char('x')), Then::GoOn);
    for key in [KeyCode::Char('q'), KeyCode::Esc] {
        assert_eq!(press(&mut state, key), Then::End);
    }
    assert_eq!(state.key(KeyCode::Char('c'), KeyModifiers::CONTROL), Then::End);
    assert_eq!(press(&mut state, KeyCode::Char('c')), Then::GoOn);
}

#[test]
fn pages_scroll_to_their_last_line_and_no_further() {
    let mut state = house();
    press(&mut state, KeyCode::Enter);
    (0..50).for_each(|_| assert_eq!(press(&mut state, KeyCode::Down), Then::GoOn));
    let low = rendered(&mut state, (60, 8), NOW).unwrap();
    assert!(low[6].contains("in their place"), "the end of the page: {low:?}");
    let scrolled = state.scrolled;
    assert!(scrolled < 50);
    press(&mut state, KeyCode::Down);
    rendered(&mut state, (60, 8), NOW).unwrap();
    assert_eq!(state.scrolled, scrolled);
}

#[test]
fn devices_stay_while_the_cloud_does_not_answer() {
    let mut state = house();
    press(&mut state, KeyCode::Down);
    let text = "the cloud at http://127.0.0.1:7460 cannot be reached".to_owned();
    let away = Look { devices: Err(Failure { text, exit_code: 5 }), ..look(Vec::new()) };
    assert_eq!(away.exit_code(), 5);
    state.take(away);
    let lines = rendered(&mut state, (100, 24), NOW + 65_000).unwrap();
    assert!(lines[0].contains("no answer"), "{}", lines[0]);
    assert!(lines[1].starts_with("devices as of 1 min ago: the cloud at"), "{}", lines[1]);
    assert!(lines.iter().any(|line| line.starts_with("thermometer")));
    // The selection follows its device.
    state.take(look(vec![device("attic"), device("cellar"), device("door")]));
    assert_eq!(state.device().unwrap().device, "door");
    state.take(look(Vec::new()));
    assert!(state.device().is_none());
    assert!(screen(&mut state, 60).join("\n").contains("no device yet"));
    assert_eq!(press(&mut state, KeyCode::Enter), Then::GoOn);
    assert_eq!(state.page, Page::Devices);
}

#[test]
fn nothing_that_a_device_or_a_cloud_says_controls_the_terminal() {
    const HOSTILE: &str = "x\x1b]0;owned\x07\x1b[2J\r\n\u{9b}5m\u{202e}y";
    let mut hostile = device(HOSTILE);
    hostile.channels[0].channel = HOSTILE.to_owned();
    hostile.troubles.push(Trouble { error: HOSTILE.to_owned(), exit_code: 1 });
    hostile.recoveries = 1;
    hostile.recovered_at = Some(HOSTILE.to_owned());
    let about = DeviceAlarm { device: HOSTILE.to_owned(), ..alarm(Vec::new()).devices.remove(0) };
    let lasting = AlarmStatus { devices: vec![about], ..alarm(vec![event(HOSTILE, HOSTILE)]) };
    let failed = Failure { text: HOSTILE.to_owned(), exit_code: 1 };
    let mut state = State::new(Duration::from_secs(5));
    state.take(Look {
        plant: HOSTILE.to_owned(),
        cloud: HOSTILE.to_owned(),
        alarms: vec![(HOSTILE.to_owned(), Ok(lasting)), ("b".to_owned(), Err(failed))],
        ..look(vec![hostile])
    });
    for page in [Page::Devices, Page::Device] {
        state.page = page;
        for width in [60, 200] {
            let all = screen(&mut state, width).concat();
            assert!(all.contains('x') && all.contains('y'), "{all}");
            assert!(!all.chars().any(|c| c.is_control() || c == '\u{202e}'), "{all:?}");
        }
    }
    state.page = Page::Devices;
    assert!(!plain(&mut state, 100, NOW).chars().any(|c| c.is_control() && c != '\n'));
}

#[test]
fn a_frame_of_plain_text_has_all_devices_and_no_keys() {
    let mut state = State::new(Duration::from_secs(5));
    state.take(look((0..200).map(|number| device(&format!("meter-{number:03}"))).collect()));
    let text = plain(&mut state, 100, NOW);
    assert_eq!(text.lines().filter(|line| line.starts_with("meter-")).count(), 200);
    assert!(text.contains("meter-199") && text.contains("ALARM cold") && !text.contains("Enter"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn no_colour_is_drawn_unless_it_is_wanted() {
    let colours = |paint: Paint| {
        let mut terminal = Terminal::new(TestBackend::new(100, 24)).unwrap();
        let mut state = house();
        terminal.draw(|frame| draw(frame, &mut state, NOW, paint)).unwrap();
        let cells = terminal.backend().buffer().content.iter();
        cells.filter(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset).count()
    };
    assert_eq!(colours(Paint(false)), 0);
    assert!(colours(Paint(true)) > 0);
}
