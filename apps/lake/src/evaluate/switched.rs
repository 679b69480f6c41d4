//! `sotto_switch_sum`: switches the ciphertexts of each group to one key, and adds them.

use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;
use sotto_rlwe::KeyId;

use super::evaluations::{Evaluations, blocking};
use super::gather::gather;
use super::scheme::Summing;
use crate::LakeError;
use crate::bytes::{Bytes, Torn};
use crate::ciphertexts::{Shared, Stored};
use crate::grouped::{Aggregate, Groups, Rows};
use crate::store::Setting;

/// The function with its key.
pub(super) struct SwitchedSums {
    evaluations: Arc<Evaluations>,
    /// The key of the sums, if the query names it.
    key: Option<KeyId>,
    shared: Shared,
}

/// A sum of ciphertexts with one setting.
struct Begun {
    bytes: Arc<[u8]>,
    setting: Setting,
    sum: Box<dyn Summing>,
}

/// The sum of a group.
#[derive(Default)]
pub(super) struct Sum(Option<Begun>);

impl SwitchedSums {
    pub(super) fn new(evaluations: Arc<Evaluations>, key: Option<KeyId>) -> Self {
        Self { evaluations, key, shared: Shared::default() }
    }

    /// Returns the key of a sum whose first ciphertext this is: the one that the query names; else the only one to which keys lead
    /// from others; else that of the ciphertext.
    fn key(&self, setting: &Setting, first: &Stored) -> Result<KeyId, LakeError> {
        if let Some(key) = self.key {
            return Ok(key);
        }
        let mut keys = setting.keys.iter().filter(|set| set.transfers).map(|set| set.key);
        match (keys.next(), keys.next()) {
            (None, _) => Ok(first.key),
            (Some(key), None) => Ok(key),
            (Some(one), Some(other)) => Err(LakeError::Evaluation(format!(
                "transfer keys lead to {one}, to {other}{}: name one, as in sotto_switch_sum(ciphertext, '{one}')",
                if keys.next().is_some() { " and to others" } else { "" }
            ))),
        }
    }

    /// Returns the sum of no ciphertexts, for the group of this one.
    fn begin(&self, first: &Stored) -> Result<Begun, LakeError> {
        let setting = Setting::read(&first.setting)?;
        let key = self.key(&setting, first)?;
        let sum = self.evaluations.scheme(&setting)?.sum(&setting, key, &self.evaluations.reader())?;
        Ok(Begun { bytes: Arc::clone(&first.setting), setting, sum })
    }

    /// Adds a ciphertext.
    fn add(&self, group: &mut Sum, stored: &Stored) -> Result<(), LakeError> {
        let Begun { bytes, setting, sum } = match &mut group.0 {
            Some(begun) => begun,
            none => none.insert(self.begin(stored)?),
        };
        if *bytes != stored.setting {
            return Err(stored.refused(&format!(
                "it has other parameters than {}, those of other ciphertexts of its group: group by parameters",
                sum.parameters()
            )));
        }
        sum.add(stored, setting, &self.evaluations.reader())
    }
}

impl Aggregate for SwitchedSums {
    type Group = Sum;

    fn again(&self) -> Self {
        Self::new(Arc::clone(&self.evaluations), self.key)
    }

    /// Reads files: blocks this thread.
    fn update(
        &mut self,
        groups: &mut Groups<Sum>,
        values: &[ArrayRef],
        rows: &Rows<'_>,
    ) -> Result<(), LakeError> {
        let mut shared = std::mem::take(&mut self.shared);
        let add = |group: &mut Sum, _, stored| self.add(group, &stored);
        let done = blocking(|| gather::<Self>(groups, (values.first(), None), rows, &mut shared, add));
        self.shared = shared;
        done
    }

    /// `length of the setting 4 ‖ setting ‖ number of ciphertexts 8 ‖ state`, lowest byte first; nothing without a ciphertext.
    fn state(&self, group: Sum) -> Result<Vec<u8>, LakeError> {
        let Some(Begun { bytes, sum, .. }) = group.0 else { return Ok(Vec::new()) };
        let Some((state, count)) = sum.state() else { return Ok(Vec::new()) };
        let length = u32::try_from(bytes.len()).map_err(|_| Torn)?;
        Ok([&length.to_le_bytes()[..], &bytes, &count.to_le_bytes(), &state].concat())
    }

    fn merge(&mut self, group: &mut Sum, state: &[u8]) -> Result<usize, LakeError> {
        if state.is_empty() {
            return Ok(0);
        }
        let before = Self::bytes(group);
        let mut state = Bytes(state);
        let (setting, count) = (state.sized()?, state.u64()?);
        match &mut group.0 {
            Some(Begun { bytes, sum, .. }) if **bytes == *setting => sum.add_state(state.0, count)?,
            Some(Begun { sum, .. }) => {
                return Err(LakeError::Evaluation(format!(
                    "a group has ciphertexts of parameters {}, and of others: group by parameters",
                    sum.parameters()
                )));
            }
            none => {
                let bytes = setting.into();
                let setting = Setting::read(setting)?;
                let sum = self.evaluations.scheme(&setting)?.sum_again(state.0, count)?;
                *none = Some(Begun { bytes, setting, sum });
            }
        }
        Ok(Self::bytes(group).saturating_sub(before))
    }

    fn finish(&self, groups: Vec<Sum>) -> Result<Vec<Option<Vec<u8>>>, LakeError> {
        let frame = |group: Sum| group.0.map_or(Ok(None), |begun| begun.sum.frame());
        groups.into_iter().map(frame).collect()
    }

    fn bytes(group: &Sum) -> usize {
        group.0.as_ref().map_or(0, |begun| begun.bytes.len() + begun.sum.bytes())
    }
}
