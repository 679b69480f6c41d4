//! The numbers and the ids of a log's windows, each of which a further window must not have.

use std::collections::{BTreeMap, HashSet};

use sotto_wire::{Digest, ID_BYTES, LogItem};

use super::mirror::StreamLog;
use super::stream_name::StreamName;
use crate::lie::Lie;

/// Numbers as ranges that do not touch each other: the last one by the first.
#[derive(Debug, Default)]
struct Numbers(BTreeMap<u64, u64>);

impl Numbers {
    /// Adds a number. Returns false if it was there.
    fn add(&mut self, number: u64) -> bool {
        let before = self.0.range_mut(..=number).next_back();
        let joined = match before {
            Some((_, last)) if *last >= number => return false,
            Some((first, last)) if *last + 1 == number => {
                *last = number;
                *first
            }
            _ => {
                self.0.insert(number, number);
                number
            }
        };
        // The range behind may begin at the next number.
        if let Some(last) = number.checked_add(1).and_then(|next| self.0.remove(&next)) {
            self.0.insert(joined, last);
        }
        true
    }
}

/// The numbers of all windows, and the ids that are kept or stand on one page: those of sums name nothing and are not kept.
#[derive(Debug, Default)]
pub(super) struct Used {
    numbers: Numbers,
    ids: HashSet<[u8; ID_BYTES]>,
    page: HashSet<[u8; ID_BYTES]>,
}

impl Used {
    pub(super) fn of(log: &StreamLog) -> Self {
        let ids = log.pieces().filter_map(|(first, _)| Some(first.named()?.1)).collect();
        Self { numbers: Numbers(log.numbers().into_iter().collect()), ids, page: HashSet::new() }
    }

    /// Adds the numbers and the ids of an item's windows.
    ///
    /// # Errors
    /// [`Lie::DoubledWindow`] or [`Lie::RepeatedName`] if another window has one.
    pub(super) fn add(&mut self, name: StreamName<'_>, item: &LogItem, leaves: &[Digest]) -> Result<(), Lie> {
        for (index, leaf) in leaves.iter().enumerate() {
            let logged = item.logged().get(index);
            let (device, stream) = (name.device.to_owned(), name.stream.to_owned());
            let sequence = logged.map_or(item.sequence(), |logged| logged.sequence());
            if !self.numbers.add(sequence) {
                return Err(Lie::DoubledWindow { device, stream, sequence });
            }
            let is_kept = logged.is_none_or(|logged| !logged.stream().is_of_sums());
            let Some(id) = item.id(index, leaf).filter(|_| !matches!(item, LogItem::Unread { .. })) else {
                continue;
            };
            let ids = if is_kept { &mut self.ids } else { &mut self.page };
            if !ids.insert(id) {
                return Err(Lie::RepeatedName { device, stream, sequence });
            }
        }
        Ok(())
    }

    /// Forgets the ids of sums.
    pub(super) fn end_page(&mut self) {
        self.page.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_those_of_a_set(numbers in proptest::collection::vec(prop_oneof![0_u64..30, (u64::MAX - 9)..=u64::MAX], 0..80)) {
            let (mut ranges, mut set) = (Numbers::default(), BTreeSet::new());
            for number in numbers {
                prop_assert_eq!(ranges.add(number), set.insert(number));
            }
            let all: Vec<u64> = ranges.0.iter().flat_map(|(first, last)| *first..=*last).collect();
            prop_assert!(all.into_iter().eq(set.iter().copied()));
            let firsts: Vec<(u64, u64)> = ranges.0.into_iter().collect();
            prop_assert!(firsts.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
        }
    }
}
