//! `sotto_switch_sum`: switches the ciphertexts of each group to one key, and adds them.

use std::sync::Arc;

use sotto_rlwe::KeyId;

use super::evaluations::Evaluations;
use super::grouped::Gather;
use super::scheme::Summing;
use crate::LakeError;
use crate::ciphertexts::Stored;
use crate::store::Setting;

/// The function with its key.
pub(super) struct SwitchedSums {
    pub(super) evaluations: Arc<Evaluations>,
    /// The key of the sums, if the query names it.
    pub(super) key: Option<KeyId>,
}

/// The bytes of a setting, and a sum of ciphertexts with it.
type Begun = (Arc<[u8]>, Box<dyn Summing>);

/// The sum of a group.
#[derive(Default)]
pub(super) struct Sum(Option<Begun>);

impl SwitchedSums {
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
    fn sum(&self, first: &Stored) -> Result<Box<dyn Summing>, LakeError> {
        let setting = Setting::read(&first.setting)?;
        let key = self.key(&setting, first)?;
        self.evaluations.scheme(&setting)?.sum(&setting, key, &self.evaluations.reader())
    }
}

fn torn() -> LakeError {
    LakeError::Evaluation("a sum of ciphertexts that is not complete is damaged".to_owned())
}

impl Gather for SwitchedSums {
    const NAME: &'static str = "sotto_switch_sum";
    const IS_ORDERED: bool = false;
    const READS: bool = true;
    type Group = Sum;

    fn again(&self) -> Self {
        Self { evaluations: Arc::clone(&self.evaluations), key: self.key }
    }

    fn add(&mut self, group: &mut Sum, _: i64, stored: Stored) -> Result<(), LakeError> {
        let (known, sum) = match &mut group.0 {
            Some((known, sum)) => (known, sum),
            none => {
                let sum = self.sum(&stored)?;
                let (known, sum) = none.insert((Arc::clone(&stored.setting), sum));
                (known, sum)
            }
        };
        if *known != stored.setting {
            return Err(stored.refused(&format!(
                "it has other parameters than {}, those of other ciphertexts of its group: group by parameters",
                sum.parameters()
            )));
        }
        let setting = Setting::read(&stored.setting)?;
        sum.add(&stored, &setting, &self.evaluations.reader())
    }

    /// `length of the setting 4 ‖ setting ‖ number of ciphertexts 8 ‖ state`, lowest byte first; nothing without a ciphertext.
    fn state(&self, group: Sum) -> Result<Vec<u8>, LakeError> {
        let Some((setting, sum)) = group.0 else { return Ok(Vec::new()) };
        let Some((state, count)) = sum.state() else { return Ok(Vec::new()) };
        let length = u32::try_from(setting.len()).map_err(|_| torn())?;
        Ok([&length.to_le_bytes()[..], &setting, &count.to_le_bytes(), &state].concat())
    }

    fn merge(&mut self, group: &mut Sum, state: &[u8]) -> Result<(), LakeError> {
        if state.is_empty() {
            return Ok(());
        }
        let (length, rest) = state.split_first_chunk().ok_or_else(torn)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (bytes, rest) = rest.split_at_checked(length).ok_or_else(torn)?;
        let (count, state) = rest.split_first_chunk().ok_or_else(torn)?;
        let count = u64::from_le_bytes(*count);
        match &mut group.0 {
            Some((known, sum)) if **known == *bytes => sum.add_state(state, count),
            Some((_, sum)) => Err(LakeError::Evaluation(format!(
                "a group has ciphertexts of parameters {}, and of others: group by parameters",
                sum.parameters()
            ))),
            none => {
                let scheme = self.evaluations.scheme(&Setting::read(bytes)?)?;
                *none = Some((bytes.into(), scheme.sum_again(state, count)?));
                Ok(())
            }
        }
    }

    fn finish(&self, groups: Vec<Sum>) -> Result<Vec<Option<Vec<u8>>>, LakeError> {
        let frame = |group: Sum| group.0.map_or(Ok(None), |(_, sum)| sum.frame());
        groups.into_iter().map(frame).collect()
    }

    fn bytes(group: &Sum) -> usize {
        group.0.as_ref().map_or(0, |(setting, sum)| setting.len() + sum.bytes())
    }
}
