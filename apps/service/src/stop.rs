//! When to stop.

use std::future::Future;
use std::io::Read as _;
use std::thread;

use anyhow::Context as _;
use tokio::sync::oneshot;

/// Ends at SIGINT, at SIGTERM and, if asked, when standard input ends. Signals are caught from the call on.
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

/// A thread of its own reads: it may block for ever, and is left behind when the process ends.
fn stdin_ended() -> anyhow::Result<oneshot::Receiver<()>> {
    let (ended, heard) = oneshot::channel();
    let read = move || {
        let mut stdin = std::io::stdin().lock();
        let mut discarded = [0; 256];
        while stdin.read(&mut discarded).is_ok_and(|count| count > 0) {}
        // Whoever waited may be gone already.
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
