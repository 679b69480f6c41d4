//! One frame as plain text.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Position;

use super::columns::Paint;
use super::draw::{HEAD, below, draw};
use super::state::State;

/// Most lines of a frame.
const MOST_LINES: usize = 10_000;

/// Returns the screen as lines of text, without colours, keys and the mark of a selection: as high as all devices and events take.
pub(super) fn plain(state: &mut State, width: u16, now: i64) -> String {
    let events = below(state, now, Paint(false)).len();
    // The heading of the table, and the line of keys. Events take a third at most.
    let lines = (usize::from(HEAD) + 2 + state.devices.len().max(2) + events).max(3 * events).min(MOST_LINES);
    let height = u16::try_from(lines).unwrap_or(u16::MAX);
    rendered(state, (width, height), now).map_or_else(String::new, |mut lines| {
        lines.pop();
        lines.dedup_by(|next, line| next.is_empty() && line.is_empty());
        lines.join("\n")
    })
}

/// Returns the lines of a frame of this size; None if it cannot be drawn.
pub(super) fn rendered(state: &mut State, (width, height): (u16, u16), now: i64) -> Option<Vec<String>> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).ok()?;
    terminal.draw(|frame| draw(frame, state, now, Paint(false))).ok()?;
    let buffer = terminal.backend().buffer();
    let line = |y: u16| {
        let mut line = String::new();
        let mut x = 0;
        while x < width {
            let symbol = buffer.cell(Position { x, y }).map_or(" ", |cell| cell.symbol());
            line.push_str(symbol);
            // A wide character takes two cells.
            x += u16::try_from(ratatui::text::Span::raw(symbol).width()).unwrap_or(1).max(1);
        }
        line.trim_end().to_owned()
    };
    Some((0..height).map(line).collect())
}
