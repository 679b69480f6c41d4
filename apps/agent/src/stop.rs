//! Stop requests: by a signal, or because the parent process has ended.

use std::io::Read;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// A stop request that ends every wait. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<StopState>);

#[derive(Debug, Default)]
struct StopState {
    asked: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    /// Creates a request that nobody has made yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a request made by the first SIGINT, SIGTERM or SIGHUP; the second ends the process immediately.
    ///
    /// # Errors
    /// [`ctrlc::Error`] if signals cannot be caught.
    pub fn on_signals() -> Result<Self, ctrlc::Error> {
        let stop = Self::new();
        let asked = stop.clone();
        ctrlc::set_handler(move || {
            if asked.is_asked() {
                std::process::exit(130);
            }
            asked.ask();
        })?;
        Ok(stop)
    }

    /// Requests the stop.
    pub fn ask(&self) {
        *self.lock() = true;
        self.0.changed.notify_all();
    }

    /// Returns true if the stop was requested.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        *self.lock()
    }

    /// Waits for `time`, or until the stop is requested. Returns true if it was.
    #[must_use]
    pub fn wait(&self, time: Duration) -> bool {
        let waited = self.0.changed.wait_timeout_while(self.lock(), time, |asked| !*asked);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.0.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the process as soon as its standard input ends: if the parent holds the other end, both die together. The spool
/// tolerates an end at any moment.
pub fn exit_with_stdin() {
    thread::spawn(|| {
        let mut stdin = std::io::stdin().lock();
        let mut ignored = [0; 256];
        while matches!(stdin.read(&mut ignored), Ok(read) if read > 0) {}
        std::process::exit(1);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn asking_ends_a_wait() {
        let stop = Stop::new();
        assert!(!stop.wait(Duration::from_millis(1)));
        let asks = stop.clone();
        let thread = thread::spawn(move || asks.ask());
        let start = Instant::now();
        assert!(stop.wait(Duration::from_secs(60)));
        assert!(start.elapsed() < Duration::from_secs(30));
        assert!(stop.is_asked());
        thread.join().unwrap();
    }
}
