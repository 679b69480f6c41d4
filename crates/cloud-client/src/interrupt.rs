//! Ending work between two requests.

use std::fmt;
use std::sync::Arc;

/// A check before each request: once it returns true, requests fail with
/// [`CloudError::Interrupted`](crate::CloudError::Interrupted) and nothing more is sent.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use sotto_cloud_client::{Cloud, CloudError, Interrupt};
///
/// let stopped = Arc::new(AtomicBool::new(false));
/// let seen = Arc::clone(&stopped); // set it from a signal handler or another thread
/// let interrupt = Interrupt::when(move || seen.load(Ordering::Relaxed));
/// let cloud = Cloud::new("https://cloud.example.org", "0123456789abcdef")?.interrupted_by(interrupt);
/// stopped.store(true, Ordering::Relaxed);
/// assert_eq!(cloud.limits().err(), Some(CloudError::Interrupted { what: "the limits" }));
/// # Ok::<(), CloudError>(())
/// ```
#[derive(Clone, Default)]
pub struct Interrupt(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Interrupt {
    /// Makes a check of a function. It is called on the thread of the request and should return at once.
    #[must_use]
    pub fn when(check: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(check)))
    }

    pub(crate) fn is_due(&self) -> bool {
        self.0.as_ref().is_some_and(|check| check())
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Interrupt").field(&self.0.is_some()).finish()
    }
}
