//! Whose fault a refused sum is: the cloud's, or that of a window.

use std::collections::{BTreeMap, BTreeSet};

use sotto_sums::Answer;
use sotto_wire::{Envelope, LARGEST_ENVELOPE, StreamHeader};

use super::open::Keys;
use super::{SumsStream, Task};
use crate::error::{FaultyWindow, OwnerError};
use crate::lie::Lie;
use crate::quantities::{InputRun, Inputs};
use crate::windows::{self, ByNumber, kept_log};
use crate::work::job::Computer;
use crate::work::transcript::of_work;

/// Bytes of a message beside the largest envelope.
const OVERHEAD: u64 = 4096;

impl Computer<'_> {
    /// Takes refused sums apart: fetches each of their windows as its device signed it, and opens it by itself. If the tag
    /// of each fits, the sum of the cloud is another one.
    pub(super) fn fault(
        &mut self,
        SumsStream { device, stream, .. }: SumsStream<'_>,
        keys: &mut Keys<'_>,
        tasks: &[Task],
        inputs: &Inputs<'_>,
    ) -> OwnerError {
        let mut parts: BTreeMap<usize, BTreeSet<u8>> = BTreeMap::new();
        for task in tasks {
            for at in task.windows.clone() {
                parts.entry(at).or_default().extend(&task.parts);
            }
        }
        let (windows, mut faulty) = (parts.len() as u64, Vec::new());
        let numbers = parts.keys().map(|at| inputs.at(*at).sequence());
        let logged = match kept_log(self.plant, device, stream.stream()) {
            Ok(log) => ByNumber::new(log, self.cloud, (device, stream.stream()), numbers),
            Err(error) => return error,
        };
        for (at, parts) in parts {
            let input = inputs.at(at);
            // The bodies of windows that were rolled up are gone.
            if input.rolled().is_some() {
                continue;
            }
            let window = match self.signed(&logged, input, device, stream) {
                Ok(window) => window,
                Err(error) => return error,
            };
            let holds = parts.iter().all(|part| keys.holds(&window, input, *part));
            if !holds {
                let sequence = input.sequence();
                let identity = windows::identity(Some(stream), sequence);
                faulty.push(FaultyWindow { identity, stream: stream.stream().to_owned(), sequence });
            }
        }
        let device = device.to_owned();
        if faulty.is_empty() {
            return Lie::ForgedSum { device, stream: stream.stream().to_owned(), windows }.into();
        }
        OwnerError::FaultyWindows { device, windows: faulty }
    }

    /// Returns a window as its device signed it.
    fn signed(
        &mut self,
        logged: &ByNumber<'_>,
        input: InputRun<'_>,
        device: &str,
        stream: &StreamHeader,
    ) -> Result<Envelope, OwnerError> {
        let (leaf, id) = logged.named(input.sequence())?;
        let message = self.cloud.message(&id).map_err(|error| of_work(device, error))?;
        self.spent.bytes_down += message.len() as u64;
        match Envelope::read_kept(&message, LARGEST_ENVELOPE + OVERHEAD) {
            Ok(envelope) if envelope.signed_header().leaf() == leaf => Ok(envelope),
            _ => Err(Lie::ExchangedWindow {
                device: device.to_owned(),
                stream: stream.stream().to_owned(),
                sequence: input.sequence(),
            }
            .into()),
        }
    }
}

impl Keys<'_> {
    /// Returns true if the tag of a window's part fits what the window holds, and its values are in their ranges.
    fn holds(&mut self, window: &Envelope, input: InputRun<'_>, part: u8) -> bool {
        let described = self.stream.parts().get(usize::from(part));
        let (Some(described), Ok(sent), Ok(form)) = (described, window.part(part.into()), self.form(part))
        else {
            return false;
        };
        let counts = described.counts(&input.input.window);
        let answer = Answer::from((&sent, &counts[..]));
        self.opening(&form, part, std::iter::once(input), None)
            .is_ok_and(|opening| opening.open(self.tag(&form, part), &answer).is_ok())
    }
}
