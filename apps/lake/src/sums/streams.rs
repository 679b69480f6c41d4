//! The streams whose windows are added.

use std::collections::HashMap;

use sotto_wire::StreamHeader;

use crate::LakeError;

/// A stream, and the parts of its windows that are added.
pub(super) struct Stream {
    pub(super) header: StreamHeader,
    pub(super) frame: Vec<u8>,
    pub(super) parts: Vec<u8>,
    /// Windows of one sum: as many as the bits of a place hold.
    pub(super) capacity: u64,
}

/// The streams that were met, by their numbers.
pub(super) struct Streams {
    all: Vec<Stream>,
    by_frame: HashMap<Vec<u8>, usize>,
    channel: Option<String>,
}

/// A window's part in a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counts {
    Wholly,
    Not,
}

impl Streams {
    pub(super) fn new(channel: Option<String>) -> Self {
        Self { all: Vec::new(), by_frame: HashMap::new(), channel }
    }

    /// Returns the number of the stream with this header.
    pub(super) fn number(&mut self, frame: &[u8]) -> Result<usize, LakeError> {
        if let Some(number) = self.by_frame.get(frame) {
            return Ok(*number);
        }
        let header = StreamHeader::read(frame)?;
        if !header.is_of_sums() {
            return Err(LakeError::Sum(format!("stream `{}` is none of sums", header.stream())));
        }
        let parts = match &self.channel {
            None => header.adding_parts().collect(),
            Some(channel) => parts_of(&header, column(&header, channel)?),
        };
        let number = self.all.len();
        let mut capacity = u64::MAX;
        for part in &parts {
            capacity = capacity.min(header.sums_form(usize::from(*part))?.capacity());
        }
        self.all.push(Stream { header, frame: frame.to_vec(), parts, capacity: capacity.max(1) });
        self.by_frame.insert(frame.to_vec(), number);
        Ok(number)
    }

    pub(super) fn channel(&self) -> Option<&str> {
        self.channel.as_deref()
    }

    pub(super) fn get(&self, number: usize) -> Result<&Stream, LakeError> {
        self.all.get(number).ok_or_else(|| LakeError::Sum("a sum is of no stream".to_owned()))
    }

    /// Decides if a window counts, some of whose channels are replaced: columns, 2 bytes each.
    pub(super) fn counts(&self, of: usize, window: u64, replaced: &[u8]) -> Result<Counts, LakeError> {
        if replaced.is_empty() {
            return Ok(Counts::Wholly);
        }
        let stream = self.get(of)?;
        let replaced: Vec<u16> =
            replaced.as_chunks().0.iter().map(|bytes| u16::from_le_bytes(*bytes)).collect();
        let touches = |part: &u8| {
            let quantities = stream.header.parts().get(usize::from(*part)).map(|part| &part.quantities);
            quantities.into_iter().flatten().any(|placed| {
                let (one, other) = placed.quantity.columns();
                replaced.contains(&one) || replaced.contains(&other)
            })
        };
        if let Some(channel) = &self.channel {
            let column = column(&stream.header, channel)?;
            return Ok(if replaced.contains(&column) { Counts::Not } else { Counts::Wholly });
        }
        let touched = stream.parts.iter().filter(|part| touches(part)).count();
        match touched {
            0 => Ok(Counts::Wholly),
            all if all == stream.parts.len() && replaced.len() >= stream.header.layout().channels().len() => {
                Ok(Counts::Not)
            }
            _ => Err(LakeError::Window {
                device: stream.header.device().to_owned(),
                stream: stream.header.stream().to_owned(),
                number: window,
                reason:
                    "a later window replaces the readings of some of its channels: name a channel, as in \
                         sotto_sum(body, tag, 'temperature')"
                        .to_owned(),
            }),
        }
    }
}

fn column(header: &StreamHeader, channel: &str) -> Result<u16, LakeError> {
    let found = (0..).zip(header.layout().channels()).find(|(_, known)| known.name == channel);
    found.map(|(column, _)| column).ok_or_else(|| {
        let known: Vec<&str> = header.layout().channels().iter().map(|known| known.name.as_str()).collect();
        LakeError::Sum(format!(
            "stream `{}` of `{}` has no channel `{channel}`, but {}",
            header.stream(),
            header.device(),
            known.join(", ")
        ))
    })
}

/// Returns the parts whose values add and that a channel is in.
fn parts_of(header: &StreamHeader, column: u16) -> Vec<u8> {
    let has = |part: &u8| {
        let quantities = header.parts().get(usize::from(*part)).map(|part| &part.quantities);
        quantities.into_iter().flatten().any(|placed| {
            let columns = placed.quantity.columns();
            columns.0 == column || columns.1 == column
        })
    };
    header.adding_parts().filter(has).collect()
}
