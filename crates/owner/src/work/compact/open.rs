//! Decryption of sums with the masks of their windows.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use sotto_compact::{Mask, MaskSum, Sum, Weights};
use sotto_decrypt::{DecryptError, MaskProduct, open_compact, open_compact_places};
use sotto_pack::Column;
use sotto_wire::{CompactSum, CompactSums, MaskName};

use super::{Opener, Task};
use crate::error::OwnerError;
use crate::open::Numbers;
use crate::work::job::Results;

impl Opener {
    /// Returns the values at the places of each task.
    pub(super) fn open(
        &self,
        answer: &CompactSums,
        first: usize,
        tasks: &[Task],
        windows: usize,
    ) -> Result<Vec<Vec<i64>>, OwnerError> {
        let fits =
            answer.form == self.form() && answer.masks.len() == windows && answer.sums.len() == tasks.len();
        if !fits {
            return Err(OwnerError::WrongAnswer(
                "the sums are of other windows than were asked for".to_owned(),
            ));
        }
        let mut products = BTreeMap::new();
        let mut values = Vec::with_capacity(tasks.len());
        for (task, sum) in tasks.iter().zip(&answer.sums) {
            let masks = &answer.masks[task.windows.start - first..task.windows.end - first];
            values.push(self.open_one(task, sum, masks, &mut products)?);
        }
        Ok(values)
    }

    fn open_one(
        &self,
        task: &Task,
        sum: &CompactSum,
        names: &[MaskName],
        products: &mut BTreeMap<([u8; 12], u64), MaskProduct>,
    ) -> Result<Vec<i64>, OwnerError> {
        let wrong = |error: DecryptError| OwnerError::WrongAnswer(error.to_string());
        let form = *self.profile.form();
        let (first, count) = (usize::from(sum.first), usize::from(sum.places));
        if task.places != (first..first + count) {
            return Err(OwnerError::WrongAnswer("a sum is of other places than were asked for".to_owned()));
        }
        let mask = |name: &MaskName| -> Mask { self.masks.mask(&name.salt, name.sequence) };
        let summed = |weights| {
            Sum::from_bytes(&form, task.places.clone(), &sum.body, weights)
                .map_err(|error| OwnerError::WrongAnswer(error.to_string()))
        };
        let values = match &task.weights {
            None => {
                let mut masks = MaskSum::new(&form);
                names.iter().for_each(|name| masks.add(&mask(name), 1));
                open_compact(&self.key, &self.profile, &summed(masks.weights())?, &masks).map_err(wrong)?
            }
            Some(weights) => {
                for name in names {
                    if let Entry::Vacant(free) = products.entry((name.salt, name.sequence)) {
                        let product = MaskProduct::new(&self.key, &self.profile, &mask(name));
                        free.insert(product.map_err(wrong)?);
                    }
                }
                let weights: Vec<Vec<i64>> = weights
                    .chunks(count)
                    .map(|each| each.iter().map(|weight| i64::from(*weight)).collect())
                    .collect();
                let of = |name: &MaskName| products.get(&(name.salt, name.sequence));
                let windows: Vec<(&MaskProduct, &[i64])> = names
                    .iter()
                    .zip(&weights)
                    .filter_map(|(name, weights)| Some((of(name)?, &weights[..])))
                    .collect();
                let total = windows
                    .iter()
                    .fold(Weights::default(), |all, (_, weights)| all.and(sotto_compact::largest(weights)));
                open_compact_places(&self.key, &self.profile, &summed(total)?, &windows).map_err(wrong)?
            }
        };
        values.into_exact(task.magnitude).map_err(|error| OwnerError::WrongAnswer(error.to_string()))
    }

    /// Adds a task's values to the results of its part.
    pub(super) fn put(&self, task: &Task, values: &[i64], results: &mut Results) -> Result<(), OwnerError> {
        let wrong = || OwnerError::WrongAnswer("a sum is too large".to_owned());
        for (quantity, (column, channel)) in &task.read {
            let Some(first) = self.places.first(&self.layout, self.ticks, *column) else { continue };
            let (Numbers::Whole(slots), _) = &mut results[*quantity] else { continue };
            for number in 0..self.places.length(self.ticks, *column) {
                let slot = match column {
                    Column::Bins(_) => Some(number),
                    _ => self.layout.slot(*channel, number as u32),
                };
                let at = first + number - task.places.start;
                let (Some(value), Some(slot)) = (values.get(at), slot.filter(|slot| *slot < slots.len()))
                else {
                    continue;
                };
                let value = value.checked_mul(task.factor).ok_or_else(wrong)?;
                slots[slot] = slots[slot].checked_add(value).ok_or_else(wrong)?;
            }
        }
        Ok(())
    }
}
