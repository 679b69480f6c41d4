//! `sotto_evaluate`: runs a plan over the ciphertexts of each group.

use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;
use sotto_program::Plan;
use sotto_rlwe::{KeyId, ParameterId};
use sotto_runtime::Threads;

use super::evaluations::Evaluations;
use super::gather::gather;
use super::inputs::{self, Inputs};
use super::reader::Reader;
use crate::LakeError;
use crate::ciphertexts::{Shared, Stored};
use crate::grouped::{Aggregate, Groups, Rows};
use crate::store::Setting;

/// The function with its plan.
pub(super) struct Evaluate {
    pub(super) evaluations: Arc<Evaluations>,
    /// The digest of the plan.
    pub(super) plan: [u8; 32],
    /// The key of the answer, if the query names it.
    pub(super) key: Option<KeyId>,
    shared: Shared,
}

impl Evaluate {
    pub(super) fn new(evaluations: Arc<Evaluations>, plan: [u8; 32], key: Option<KeyId>) -> Self {
        Self { evaluations, plan, key, shared: Shared::default() }
    }

    /// Runs the plan over a group.
    fn run(
        &self,
        plan: &Plan,
        mut inputs: Inputs,
        reader: &Reader<'_>,
        threads: &Threads,
    ) -> Result<Option<Vec<u8>>, LakeError> {
        inputs.sort_by(|(a, one), (b, other)| {
            (a, &one.device, &one.stream, one.number).cmp(&(b, &other.device, &other.stream, other.number))
        });
        let inputs: Vec<Stored> = inputs.into_iter().map(|(_, stored)| stored).collect();
        let Some(first) = inputs.first() else { return Ok(None) };
        let id = hex::encode(self.plan);
        let refused = |reason: String| {
            LakeError::Evaluation(format!("plan {id}, group from {}: {reason}", first.name()))
        };
        if inputs.len() != plan.inputs.len() {
            let (takes, has) = (plan.inputs.len(), inputs.len());
            return Err(refused(format!(
                "the plan takes {takes} inputs, and the group has {has} ciphertexts"
            )));
        }
        let setting = Setting::read(&first.setting)?;
        let scheme = self.evaluations.scheme(&setting)?;
        let expected = ParameterId(plan.parameter_id);
        for input in &inputs {
            let found = match input.setting == first.setting {
                true => scheme.parameters(),
                false => self.evaluations.scheme(&Setting::read(&input.setting)?)?.parameters(),
            };
            if found != expected {
                return Err(
                    input.refused(&format!("it has parameters {found}, and plan {id} is for {expected}"))
                );
            }
        }
        let key = self.answers_key(plan, &inputs).map_err(&refused)?;
        let most = self.evaluations.largest_job;
        let outputs = scheme.run(plan, &inputs, (&setting, key), reader, threads, most);
        let outputs = outputs.map_err(|error| match error {
            LakeError::Evaluation(reason) => refused(reason),
            error => error,
        });
        outputs.map(Some)
    }

    /// Returns the key of the answer, as the cloud finds it: that of the inputs which the plan takes under it, else the one that
    /// the query names.
    fn answers_key(&self, plan: &Plan, inputs: &[Stored]) -> Result<KeyId, String> {
        let own = plan.inputs.iter().zip(inputs).find(|(input, _)| !input.key.is_foreign());
        match (own.map(|(_, stored)| stored.key), self.key) {
            (Some(found), Some(named)) if found != named => Err(format!(
                "the answer is to be under key {named}, and inputs that the plan does not switch are under key {found}"
            )),
            (Some(key), _) | (None, Some(key)) => Ok(key),
            (None, None) => Err("all inputs are under foreign keys: name the key of the answer, as in \
                 sotto_evaluate(ciphertext, number, 'PLAN', 'KEY')"
                .to_owned()),
        }
    }
}

impl Aggregate for Evaluate {
    type Group = Inputs;

    fn again(&self) -> Self {
        Self::new(Arc::clone(&self.evaluations), self.plan, self.key)
    }

    fn update(
        &mut self,
        groups: &mut Groups<Inputs>,
        values: &[ArrayRef],
        rows: &Rows<'_>,
    ) -> Result<(), LakeError> {
        let values = (values.first(), values.get(1));
        gather::<Self>(groups, values, rows, &mut self.shared, |group, order, stored| {
            group.push((order, stored));
            Ok(())
        })
    }

    fn merge(&mut self, group: &mut Inputs, state: &[u8]) -> Result<usize, LakeError> {
        let before = Self::bytes(group);
        inputs::read(state, &mut self.shared, group)?;
        Ok(Self::bytes(group) - before)
    }

    fn state(&self, group: Inputs) -> Result<Vec<u8>, LakeError> {
        Ok(inputs::write(&group))
    }

    fn finish(&self, groups: Vec<Inputs>) -> Result<Vec<Option<Vec<u8>>>, LakeError> {
        if groups.iter().all(Vec::is_empty) {
            return Ok(vec![None; groups.len()]);
        }
        let done = self.evaluations.computing(|threads, reader| {
            let plan = reader.plan(self.plan)?;
            // Groups have precedence; fewer of them share the threads.
            if groups.len() < threads.count() {
                return groups.into_iter().map(|group| self.run(&plan, group, reader, threads)).collect();
            }
            let run = |group| self.run(&plan, group, reader, &Threads::one());
            threads.map(groups, run).into_iter().collect()
        });
        done?
    }

    fn bytes(group: &Inputs) -> usize {
        group.capacity() * size_of::<(i64, Stored)>()
    }
}
