//! A progress bar on a terminal, shown if reading takes long.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Delay before the bar appears.
const PATIENCE: Duration = Duration::from_secs(2);

/// Rows between two updates of the bar.
const ROWS: u64 = 256;

/// A progress bar on standard error; does nothing if that is not a terminal.
pub(crate) struct Progress {
    terminal: bool,
    begun: Option<Instant>,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn on_terminal() -> Self {
        Self { terminal: std::io::stderr().is_terminal(), begun: None, bar: None }
    }

    pub(crate) fn none() -> Self {
        Self { terminal: false, begun: None, bar: None }
    }

    /// Shows the numbers of rows read and of windows filled.
    pub(crate) fn rows(&mut self, rows: u64, windows: u64) {
        if !self.terminal || !rows.is_multiple_of(ROWS) {
            return;
        }
        if self.begun.get_or_insert_with(Instant::now).elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{spinner} {pos} rows read, {msg} windows sent");
            ProgressBar::no_length().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        });
        bar.set_message(windows.to_string());
        bar.set_position(rows);
    }

    /// Removes the bar.
    pub(crate) fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
