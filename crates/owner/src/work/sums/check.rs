//! Sums of groups of windows, opened before the cloud keeps them in place of the bodies.

use std::sync::Arc;

use sotto_keys::DeviceSecret;
use sotto_wire::StreamHeader;

use super::cached::Split;
use super::{SumsStream, Task};
use crate::devices;
use crate::error::{FaultyWindow, OwnerError};
use crate::quantities::{Input, Inputs};
use crate::work::job::Computer;

impl Computer<'_> {
    /// Opens the sum of each of these groups, in all parts whose values add, and returns the windows whose own tags do not fit: no
    /// sum with them opens.
    ///
    /// # Errors
    /// [`OwnerError`] if a sum of the cloud is not that of its windows, or the secret is not here.
    pub(crate) fn faulty_in(
        &mut self,
        device: &str,
        stream: &Arc<StreamHeader>,
        groups: &[&[Input]],
    ) -> Result<Vec<FaultyWindow>, OwnerError> {
        let secret: DeviceSecret = devices::secret(self.plant, device)?;
        let inputs = Inputs::of(groups.iter().copied().flatten());
        let parts = (0..).zip(stream.parts()).filter(|(_, part)| part.adds());
        let parts: Vec<u8> = parts.map(|(part, _)| part).collect();
        let mut first = 0;
        let task = |(part, group): (usize, &&[Input])| {
            let begin = first;
            first += group.iter().map(|input| input.count as usize).sum::<usize>();
            let (windows, parts) = (begin..first, parts.clone());
            Task { part, windows, parts, weights: None, factor: 1, read: Vec::new(), each: false }
        };
        let tasks = groups.iter().enumerate().map(task).collect();
        let mut split = Split::of(stream, tasks, inputs, None);
        let source = SumsStream { device, stream, is_proved: false };
        match self.left_sums(source, &secret, &mut split, None, &mut |_, _| Ok(()), &mut |_, _| {}) {
            Ok(()) => Ok(Vec::new()),
            Err(OwnerError::FaultyWindows { windows, .. }) => Ok(windows),
            Err(error) => Err(error),
        }
    }
}
