//! The screen.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Cell, Paragraph, Row, Table, TableState, Wrap};

use super::super::show;
use super::columns::{Paint, columns, word};
use super::state::{Page, State};
use super::text::{age, clean};
use super::{detail, look::Failure};

/// Lines of the head.
pub(super) const HEAD: u16 = 2;

/// Draws a page of the screen.
pub(super) fn draw(frame: &mut Frame<'_>, state: &mut State, now: i64, paint: Paint) {
    let below = if state.page == Page::Devices { below(state, now, paint) } else { Vec::new() };
    let lines = u16::try_from(below.len()).unwrap_or(u16::MAX).min(frame.area().height / 3);
    let [head, body, events, foot] = Layout::vertical([
        Constraint::Length(HEAD),
        Constraint::Min(3),
        Constraint::Length(lines),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    frame.render_widget(Paragraph::new(self::head(state, now, paint)), head);
    match state.page {
        Page::Devices => table(frame, body, state, now, paint),
        Page::Device => {
            let lines = detail::lines(state, now, paint);
            page(frame, body, state, lines);
        }
        Page::Help => page(frame, body, state, detail::help(paint)),
    }
    frame.render_widget(Paragraph::new(below), events);
    let keys = match state.page {
        Page::Devices => "↑↓ select  Enter details  r look now  ? help  q end",
        Page::Device | Page::Help => "↑↓ scroll  Esc back  r look now  q end",
    };
    frame.render_widget(Paragraph::new(keys).style(paint.color(Color::DarkGray)), foot);
}

/// Returns the lines of the head: the plant and its cloud, then the counts.
pub(super) fn head(state: &State, now: i64, paint: Paint) -> Vec<Line<'static>> {
    let Some(look) = &state.look else { return vec![Line::raw("asking the cloud…"), Line::default()] };
    let (reached, style) = match &look.devices {
        Ok(_) => ("reachable", paint.color(Color::Green)),
        Err(_) => ("no answer", paint.color(Color::Red)),
    };
    let first = Line::from(vec![
        Span::styled(clean(&look.plant), paint.bold()),
        Span::raw(format!("  cloud {}: ", clean(&look.cloud))),
        Span::styled(reached, style),
    ]);
    let second = match &look.devices {
        Err(Failure { text, .. }) => {
            let devices = match state.devices_at {
                0 => String::new(),
                at => format!("devices as of {} ago: ", age(at, now)),
            };
            Line::styled(format!("{devices}{text}"), paint.color(Color::Red))
        }
        Ok(_) => Line::raw(counts(state, now)),
    };
    vec![first, second]
}

fn counts(state: &State, now: i64) -> String {
    let mut counts = vec![show::counted(state.devices.len() as u64, "device")];
    for of in ["trouble", "late", "silent", "revoked"] {
        match state.devices.iter().filter(|device| word(device) == of).count() {
            0 => {}
            count => counts.push(format!("{count} {of}")),
        }
    }
    let lasting: usize = state.devices.iter().map(|device| state.lasting(&device.device).len()).sum();
    if lasting > 0 {
        counts.push(format!("{} lasting", show::counted(lasting as u64, "alarm")));
    }
    let every = state.every.as_secs();
    format!("{}; looked {} ago, every {every} s", counts.join(", "), age(state.devices_at, now))
}

fn table(frame: &mut Frame<'_>, area: Rect, state: &State, now: i64, paint: Paint) {
    if state.look.is_some() && state.devices.is_empty() {
        let none = "no device yet: `sotto device add NAME --channels A,B`";
        frame.render_widget(Paragraph::new(none).wrap(Wrap { trim: false }), area);
        return;
    }
    let columns = columns(area.width);
    let aligned = |text: String, is_number: bool| {
        let alignment = if is_number { Alignment::Right } else { Alignment::Left };
        Cell::from(Text::from(text).alignment(alignment))
    };
    let head = columns.iter().map(|column| aligned(column.title.to_owned(), column.is_number));
    let rows = state.devices.iter().map(|device| {
        let alarms = state.lasting(&device.device);
        let cells = columns.iter().map(|column| {
            let cell = aligned((column.text)(state, device, now), column.is_number);
            match column.title {
                "state" | "alarms" => cell.style(paint.of_state(device, &alarms)),
                _ => cell,
            }
        });
        Row::new(cells)
    });
    let table = Table::new(rows, columns.iter().map(|column| column.width))
        .header(Row::new(head).style(paint.bold()))
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED))
        .column_spacing(1);
    let mut selected = TableState::new().with_selected(Some(state.selected));
    frame.render_stateful_widget(table, area, &mut selected);
}

/// Draws lines that can be scrolled, no further than to the last one.
fn page(frame: &mut Frame<'_>, area: Rect, state: &mut State, lines: Vec<Line<'static>>) {
    let width = usize::from(area.width.max(1));
    let heights = lines.iter().map(|line| height(&line.to_string(), width));
    let most = heights.sum::<usize>().saturating_sub(area.height.into());
    state.scrolled = state.scrolled.min(u16::try_from(most).unwrap_or(u16::MAX));
    let page = Paragraph::new(lines).wrap(Wrap { trim: false }).scroll((state.scrolled, 0));
    frame.render_widget(page, area);
}

/// Returns the number of lines that a text takes, broken between its words.
fn height(text: &str, width: usize) -> usize {
    let (mut lines, mut used) = (1, 0);
    for word in text.split(' ').map(|word| Span::raw(word).width()) {
        let space = usize::from(used > 0);
        if used + space + word <= width {
            used += space + word;
            continue;
        }
        lines += space + word.saturating_sub(1) / width;
        used = if word > width { (word - 1) % width + 1 } else { word };
    }
    lines
}

/// Returns the lines below the devices: alarms that cannot be told, and the last events.
pub(super) fn below(state: &State, now: i64, paint: Paint) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for (name, status) in state.look.iter().flat_map(|look| &look.alarms) {
        if let Err(Failure { text, .. }) = status {
            lines.push(Line::styled(clean(&format!("alarm {name}: {text}")), paint.color(Color::Red)));
        }
    }
    for event in state.events() {
        let at = event.at.parse::<jiff::Timestamp>().map(jiff::Timestamp::as_millisecond);
        let at = at.map_or_else(|_| String::new(), |at| age(at, now));
        lines.push(Line::raw(clean(&format!("{at:>7}  {}", event.text()))));
    }
    if !lines.is_empty() {
        lines.insert(0, Line::styled("alarms", paint.bold()));
        lines.insert(0, Line::default());
    }
    lines
}
