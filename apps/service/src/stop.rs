//! Waits for the reason to stop.

use std::future::Future;
use std::io::Read as _;
use std::thread;

use anyhow::Context as _;
use tokio::sync::oneshot;

/// Returns a future that ends at SIGINT, at SIGTERM and, if `with_stdin`, at the end of standard input. Signals are
/// caught from this call on.
///
/// # Errors
/// Signals cannot be caught, or no thread can be started.
pub fn asked(with_stdin: bool) -> anyhow::Result<impl Future<Output = ()> + Send + 'static> {
    let mut signals = Signals::catch().context("signals cannot be caught")?;
    let stdin = if with_stdin { Some(stdin_ended()?) } else { None };
    Ok(async move {
        let stdin_ended = async {
            match stdin {
                Some(ended) => drop(ended.await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = signals.next() => tracing::info!("stopping: a signal came"),
            () = stdin_ended => tracing::info!("stopping: standard input ended"),
        }
    })
}

/// Reads standard input to its end in a thread of its own. The read may block for ever; the thread then ends with the
/// process.
fn stdin_ended() -> anyhow::Result<oneshot::Receiver<()>> {
    let (ended, heard) = oneshot::channel();
    let read = move || {
        let mut stdin = std::io::stdin().lock();
        let mut discarded = [0; 256];
        while stdin.read(&mut discarded).is_ok_and(|count| count > 0) {}
        // The receiver may have been dropped.
        let _ = ended.send(());
    };
    thread::Builder::new().name("stdin".into()).spawn(read).context("no thread can be started")?;
    Ok(heard)
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn catch() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn catch() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
