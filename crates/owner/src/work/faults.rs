//! Faults of answers that do not end the work: what an answer holds must not decide about the next request.

use crate::error::{FaultyWindow, OwnerError};
use crate::lie::Lie;

/// The faults found so far.
#[derive(Default)]
pub(super) struct Faults {
    /// Windows whose own tags do not fit, and their device.
    windows: Vec<FaultyWindow>,
    device: String,
    /// The first statement of the cloud that tags show to be false.
    by_tag: Option<OwnerError>,
    /// The first fault that values show.
    by_value: Option<OwnerError>,
}

impl Faults {
    /// Notes the fault of an answer.
    ///
    /// # Errors
    /// Every other error.
    pub(super) fn note<T>(&mut self, result: Result<T, OwnerError>) -> Result<Option<T>, OwnerError> {
        match result {
            Ok(done) => return Ok(Some(done)),
            Err(OwnerError::FaultyWindows { device, windows }) => {
                self.device = device;
                self.windows.extend(windows);
            }
            Err(error @ OwnerError::Lie(Lie::OtherSums { .. } | Lie::ForgedSum { .. })) => {
                self.by_tag.get_or_insert(error);
            }
            Err(error @ OwnerError::WrongAnswer(_)) => {
                self.by_value.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
        Ok(None)
    }

    /// Returns the first of the faults: those that tags show before those that values show, so that no value decides which
    /// it is.
    ///
    /// # Errors
    /// If there is one.
    pub(super) fn end(self) -> Result<(), OwnerError> {
        let Self { windows, device, by_tag, by_value } = self;
        let windows = (!windows.is_empty()).then_some(OwnerError::FaultyWindows { device, windows });
        by_tag.or(windows).or(by_value).map_or(Ok(()), Err)
    }
}
