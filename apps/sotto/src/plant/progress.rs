//! A progress wheel for commands that compute.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget};

/// Work that ends sooner shows no wheel.
const PATIENCE: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_millis(100);

/// Runs `work`. Draws a wheel with the message on standard error once that takes more than two seconds.
pub(super) fn waiting<T>(message: &'static str, work: impl FnOnce() -> T) -> T {
    let (working, over) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if over.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let wheel = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            wheel.set_message(message);
            wheel.enable_steady_tick(TICK);
            // Ends when the work ends, also by a panic.
            let _ = over.recv();
            wheel.finish_and_clear();
        });
        let done = work();
        drop(working);
        done
    })
}
