//! The page of one device.

use ratatui::style::Color;
use ratatui::text::{Line, Span};

use super::super::show;
use super::super::status::{late, remarks};
use super::columns::{Paint, bytes_a_reading, readings, word};
use super::state::State;
use super::text::{age, clean};
use crate::output::grouped;

/// Returns the lines of the selected device's page.
pub(super) fn lines(state: &State, now: i64, paint: Paint) -> Vec<Line<'static>> {
    let Some(device) = state.device() else { return Vec::new() };
    let alarms = state.lasting(&device.device);
    let mut lines = vec![
        Line::from(vec![
            Span::styled(clean(&device.device), paint.bold()),
            Span::raw("  "),
            Span::styled(word(device), paint.of_state(device, &alarms)),
        ]),
        Line::raw(format!(
            "{}, {} bytes, {} a reading",
            show::counted(device.received, "window"),
            grouped(device.bytes),
            bytes_a_reading(device)
        )),
    ];
    if let Some(heard) = device.heard_ms {
        lines.push(Line::raw(format!("last heard {}", show::ago(heard, now))));
    }
    lines.push(Line::default());
    lines.push(Line::styled(
        format!("{:<16} {:>10} {:>8} {:>7}  {}", "channel", "readings", "missing", "newest", "left out"),
        paint.bold(),
    ));
    for channel in &device.channels {
        let newest = channel.newest_ms.map_or_else(|| "–".to_owned(), |at| age(at, now));
        let left_out = sotto_owner::left_out_in_words(&channel.left_out);
        let left_out = if channel.left_out.is_empty() { String::new() } else { left_out };
        lines.push(Line::raw(clean(&format!(
            "{:<16} {:>10} {:>8} {newest:>7}  {left_out}",
            clean(&channel.channel),
            grouped(channel.readings),
            grouped(channel.missing)
        ))));
    }
    if !alarms.is_empty() {
        lines.push(Line::default());
    }
    for alarm in alarms {
        let text = format!("alarm {alarm} lasts: `sotto alarm status {alarm}` says why");
        lines.push(Line::styled(clean(&text), paint.color(Color::Red)));
    }
    let troubles = device.troubles.iter().map(|trouble| trouble.error.clone());
    let troubles: Vec<String> = troubles.chain(late(device, now)).chain(remarks(device)).collect();
    lines.push(Line::default());
    if troubles.is_empty() {
        let fine = match (device.enrolled, readings(device)) {
            (false, _) => format!("it has no bundle yet: `sotto device add {}`", device.device),
            (true, 0) => "no reading has come yet: start `sotto-agent run` with its bundle".to_owned(),
            (true, _) => "nothing is wrong with it".to_owned(),
        };
        lines.push(Line::raw(clean(&fine)));
    }
    for trouble in troubles {
        // Errors of several lines show a place; each line stays one.
        lines.extend(trouble.lines().map(|line| Line::styled(clean(line), paint.color(Color::Yellow))));
    }
    lines
}

/// Returns the lines of the help.
pub(super) fn help(paint: Paint) -> Vec<Line<'static>> {
    let mut lines = vec![Line::styled("sotto top: the devices of a plant", paint.bold()), Line::default()];
    for (key, meaning) in [
        ("↑ ↓ j k", "select a device"),
        ("Enter", "its channels, its troubles and the way out of each; again: back"),
        ("r", "look at once"),
        ("?", "this page; again: back"),
        ("q Ctrl-C", "end. Esc: back, then end"),
    ] {
        lines.push(Line::raw(format!("{key:<10} {meaning}")));
    }
    lines.push(Line::default());
    for (column, meaning) in [
        ("window", "time since the end of the newest window"),
        ("heard", "time since the cloud stored its last message"),
        ("B/reading", "bytes of the windows that count, for each reading"),
        ("missing", "ticks without a reading since the first one"),
        ("left out", "readings that the device did not send, by their reason on its page"),
        ("alarms", "alarms that last, as `sotto watch` found them"),
    ] {
        lines.push(Line::raw(format!("{column:<10} {meaning}")));
    }
    lines
}
