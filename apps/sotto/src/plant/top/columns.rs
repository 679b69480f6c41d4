//! The columns of the devices, as many as fit.

use ratatui::layout::Constraint;
use ratatui::style::{Color, Modifier, Style};
use sotto_owner::DeviceStatus;

use super::state::State;
use super::text::{age, clean};
use crate::output::grouped;

/// The colours, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Paint(pub(super) bool);

impl Paint {
    /// Returns the colours of this environment: none if `NO_COLOR` has a value.
    pub(super) fn of_environment() -> Self {
        Self(std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()))
    }

    pub(super) fn color(self, color: Color) -> Style {
        if self.0 { Style::new().fg(color) } else { Style::new() }
    }

    pub(super) fn bold(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Returns the style of a device's state.
    pub(super) fn of_state(self, device: &DeviceStatus, alarms: &[&str]) -> Style {
        match word(device) {
            "trouble" | "revoked" => self.color(Color::Red),
            _ if !alarms.is_empty() => self.color(Color::Red),
            "late" | "silent" => self.color(Color::Yellow),
            "ok" => self.color(Color::Green),
            _ => Style::new(),
        }
    }
}

/// Returns the state of a device in one word.
pub(super) fn word(device: &DeviceStatus) -> &'static str {
    match device {
        _ if !device.enrolled => "no bundle",
        _ if device.revoked => "revoked",
        _ if !device.troubles.is_empty() || !device.listed => "trouble",
        _ if device.received == 0 => "silent",
        _ if device.late => "late",
        _ => "ok",
    }
}

/// A column: its heading, its width, the width of the screen from which on it is shown, and its text.
pub(super) struct Column {
    pub(super) title: &'static str,
    pub(super) width: Constraint,
    from: u16,
    pub(super) is_number: bool,
    pub(super) text: fn(&State, &DeviceStatus, i64) -> String,
}

const COLUMNS: [Column; 11] = [
    Column {
        title: "device",
        width: Constraint::Fill(2),
        from: 0,
        is_number: false,
        text: |_, device, _| clean(&device.device),
    },
    Column {
        title: "state",
        width: Constraint::Length(9),
        from: 0,
        is_number: false,
        text: |_, device, _| word(device).to_owned(),
    },
    Column {
        title: "window",
        width: Constraint::Length(7),
        from: 0,
        is_number: true,
        text: |_, device, now| ago(device.newest_ms, now),
    },
    Column {
        title: "heard",
        width: Constraint::Length(7),
        from: 120,
        is_number: true,
        text: |_, device, now| ago(device.heard_ms, now),
    },
    Column {
        title: "windows",
        width: Constraint::Length(9),
        from: 120,
        is_number: true,
        text: |_, device, _| grouped(device.received),
    },
    Column {
        title: "readings",
        width: Constraint::Length(10),
        from: 0,
        is_number: true,
        text: |_, device, _| grouped(readings(device)),
    },
    Column {
        title: "B/reading",
        width: Constraint::Length(9),
        from: 80,
        is_number: true,
        text: |_, device, _| bytes_a_reading(device),
    },
    Column {
        title: "missing",
        width: Constraint::Length(9),
        from: 80,
        is_number: true,
        text: |_, device, _| grouped(missing(device)),
    },
    Column {
        title: "left out",
        width: Constraint::Length(8),
        from: 100,
        is_number: true,
        text: |_, device, _| grouped(left_out(device)),
    },
    Column {
        title: "alarms",
        width: Constraint::Fill(1),
        from: 0,
        is_number: false,
        text: |state, device, _| clean(&state.lasting(&device.device).join(", ")),
    },
    Column {
        title: "trouble",
        width: Constraint::Fill(4),
        from: 140,
        is_number: false,
        text: |_, device, now| trouble(device, now),
    },
];

/// Returns the columns that fit a width.
pub(super) fn columns(width: u16) -> Vec<&'static Column> {
    const ALL: &[Column] = &COLUMNS;
    ALL.iter().filter(|column| column.from <= width).collect()
}

fn ago(at: Option<i64>, now: i64) -> String {
    at.map_or_else(|| "–".to_owned(), |at| age(at, now))
}

/// Returns the number of readings of all channels.
pub(super) fn readings(device: &DeviceStatus) -> u64 {
    device.channels.iter().fold(0, |all, channel| all.saturating_add(channel.readings))
}

fn missing(device: &DeviceStatus) -> u64 {
    device.channels.iter().fold(0, |all, channel| all.saturating_add(channel.missing))
}

fn left_out(device: &DeviceStatus) -> u64 {
    device.channels.iter().fold(0, |all, channel| all.saturating_add(channel.left_out.total()))
}

/// Returns the bytes that came for each reading.
pub(super) fn bytes_a_reading(device: &DeviceStatus) -> String {
    match readings(device) {
        0 => "–".to_owned(),
        readings => format!("{:.1}", device.bytes as f64 / readings as f64),
    }
}

/// Returns the first fault of a device, or how late it is.
fn trouble(device: &DeviceStatus, now: i64) -> String {
    let first = device.troubles.first().map(|trouble| trouble.error.clone());
    clean(&first.or_else(|| super::super::status::late(device, now)).unwrap_or_default())
}
