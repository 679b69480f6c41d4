//! The page on the screen, and the keys that change it.

use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyModifiers};
use sotto_owner::DeviceStatus;
use sotto_owner::alarm::{AlarmStatus, Event};

use super::look::Look;

/// Events that are shown below the devices, at most.
const EVENTS: usize = 8;

/// The page that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    Devices,
    /// The selected device by itself.
    Device,
    Help,
}

/// The next step after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    GoOn,
    /// Look at the plant at once.
    Look,
    End,
}

/// The state of the screen.
pub(super) struct State {
    pub(super) every: Duration,
    pub(super) page: Page,
    /// The last look. None: the first one is under way.
    pub(super) look: Option<Look>,
    /// The devices of the last look that had any answer, and its time.
    pub(super) devices: Vec<DeviceStatus>,
    pub(super) devices_at: i64,
    pub(super) selected: usize,
    /// Lines of the page of a device that are above the screen.
    pub(super) scrolled: u16,
}

impl State {
    pub(super) fn new(every: Duration) -> Self {
        Self {
            every,
            page: Page::Devices,
            look: None,
            devices: Vec::new(),
            devices_at: 0,
            selected: 0,
            scrolled: 0,
        }
    }

    /// Takes a look. Devices of an earlier one stay while the cloud does not answer.
    pub(super) fn take(&mut self, mut look: Look) {
        if let Ok(devices) = &mut look.devices {
            let name = self.device().map(|device| device.device.clone());
            self.devices = std::mem::take(devices);
            self.devices_at = look.at;
            let same = name.and_then(|name| self.devices.iter().position(|device| device.device == name));
            let last = self.devices.len().saturating_sub(1);
            self.selected = same.unwrap_or(self.selected.min(last));
            if same.is_none() && self.page == Page::Device {
                self.page = Page::Devices;
            }
        }
        self.look = Some(look);
    }

    /// Returns the selected device.
    pub(super) fn device(&self) -> Option<&DeviceStatus> {
        self.devices.get(self.selected)
    }

    /// Returns the names of the alarms that last about a device.
    pub(super) fn lasting(&self, device: &str) -> Vec<&str> {
        let Some(look) = &self.look else { return Vec::new() };
        let lasts = |status: &AlarmStatus| {
            status.devices.iter().any(|about| about.device == device && about.raised_since.is_some())
        };
        let lasting = look.alarms.iter().filter(|(_, status)| status.as_ref().is_ok_and(lasts));
        lasting.map(|(name, _)| name.as_str()).collect()
    }

    /// Returns the last events of all alarms, the newest first.
    pub(super) fn events(&self) -> Vec<&Event> {
        let alarms = self.look.iter().flat_map(|look| &look.alarms);
        let mut events: Vec<&Event> =
            alarms.filter_map(|(_, status)| status.as_ref().ok()).flat_map(|status| &status.events).collect();
        events.sort_by(|one, other| (&other.at, &other.id).cmp(&(&one.at, &one.id)));
        events.truncate(EVENTS);
        events
    }

    /// Takes a key.
    pub(super) fn key(&mut self, key: KeyCode, modifiers: KeyModifiers) -> Then {
        if key == KeyCode::Char('c') && modifiers.contains(KeyModifiers::CONTROL) {
            return Then::End;
        }
        match (key, self.page) {
            (KeyCode::Char('q'), _) | (KeyCode::Esc, Page::Devices) => return Then::End,
            (KeyCode::Char('r'), _) => return Then::Look,
            (KeyCode::Char('?'), Page::Help) | (KeyCode::Esc | KeyCode::Backspace | KeyCode::Left, _) => {
                self.show(Page::Devices);
            }
            (KeyCode::Char('?'), _) => self.show(Page::Help),
            (KeyCode::Enter, Page::Device) => self.show(Page::Devices),
            (KeyCode::Enter | KeyCode::Right, Page::Devices) if self.device().is_some() => {
                self.show(Page::Device);
            }
            (KeyCode::Down | KeyCode::Char('j'), _) => self.move_by(1),
            (KeyCode::Up | KeyCode::Char('k'), _) => self.move_by(-1),
            (KeyCode::PageDown, _) => self.move_by(10),
            (KeyCode::PageUp, _) => self.move_by(-10),
            (KeyCode::Home | KeyCode::Char('g'), _) => self.move_by(i32::MIN),
            (KeyCode::End | KeyCode::Char('G'), Page::Devices) => self.move_by(i32::MAX),
            _ => {}
        }
        Then::GoOn
    }

    fn show(&mut self, page: Page) {
        self.page = page;
        self.scrolled = 0;
    }

    fn move_by(&mut self, lines: i32) {
        let moved = |from: usize, most: usize| {
            let lines = isize::try_from(lines).unwrap_or_default();
            from.saturating_add_signed(lines).min(most)
        };
        match self.page {
            Page::Devices => self.selected = moved(self.selected, self.devices.len().saturating_sub(1)),
            // The page itself ends the way down.
            Page::Device | Page::Help => {
                self.scrolled =
                    u16::try_from(moved(self.scrolled.into(), u16::MAX.into())).unwrap_or(u16::MAX);
            }
        }
    }
}
