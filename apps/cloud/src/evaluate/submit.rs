//! Everything about a job is checked before it is taken: nothing is computed that would be refused on the way.

use serde::Deserialize;
use sotto_rlwe::{KeyId, ParameterId};

use crate::cloud::Cloud;
use crate::id::{Id, from_hex};
use crate::problem::Problem;
use crate::store::{NewJob, StoredEnvelope};

/// A plan and the envelopes whose ciphertexts are its inputs, in order.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Submission {
    plan: String,
    inputs: Vec<String>,
}

/// Checks a job and puts it into the queue.
pub(crate) fn submit(cloud: &Cloud, submission: &Submission) -> Result<Id, Problem> {
    let full = || Problem::busy("queue-full", "as many jobs wait as may: ask again when some are done");
    let place = cloud.queue.reserve().ok_or_else(full)?;
    let unknown = || Problem::unprocessable("unknown-plan", "there is no plan of this name");
    let plan_id = from_hex(&submission.plan).ok_or_else(unknown)?;
    let plan = cloud.store.plan(&plan_id)?.ok_or_else(unknown)?;
    if submission.inputs.len() != plan.inputs.len() {
        let (expected, found) = (plan.inputs.len(), submission.inputs.len());
        let detail = format!("the plan takes {expected} inputs, {found} were given");
        return Err(Problem::unprocessable("wrong-inputs", detail));
    }
    let inputs = submission.inputs.iter().map(|id| input(cloud, id)).collect::<Result<Vec<_>, _>>()?;
    let parameters = ParameterId(plan.parameter_id);
    let key = common_key(parameters, inputs.iter().map(|(_, envelope)| envelope))?;
    let inputs: Vec<Id> = inputs.into_iter().map(|(id, _)| id).collect();

    let (engine, keys) = (cloud.engine(parameters)?, cloud.keys(parameters, key)?);
    let mut ciphertexts = inputs.iter().map(|id| cloud.store.ciphertext(*id));
    engine.check(&plan, &mut ciphertexts, &keys)?;

    let job = cloud.store.keep_job(&NewJob { plan: plan_id, parameters, key, inputs: &inputs })?;
    place.fill(job);
    tracing::info!(%job, steps = plan.steps.len(), inputs = inputs.len(), "queued");
    Ok(job)
}

fn input(cloud: &Cloud, name: &str) -> Result<(Id, StoredEnvelope), Problem> {
    let unknown =
        || Problem::unprocessable("unknown-envelope", "one of the inputs is not the name of an envelope");
    let id = Id::parse(name).ok_or_else(unknown)?;
    Ok((id, cloud.store.envelope(id)?.ok_or_else(unknown)?))
}

/// The one key of all inputs, which must all have the plan's parameters.
fn common_key<'e>(
    parameters: ParameterId,
    inputs: impl Iterator<Item = &'e StoredEnvelope>,
) -> Result<KeyId, Problem> {
    let mut common = None;
    for envelope in inputs {
        let (id, found, key) = (&envelope.id, envelope.parameter_id, envelope.key_id);
        if found != parameters {
            let detail = format!("envelope {id} has parameters {found}, the plan is for {parameters}");
            return Err(Problem::unprocessable("wrong-parameters", detail));
        }
        let expected = *common.get_or_insert(key);
        if key != expected {
            let detail = format!(
                "envelope {id} is under key {key}, those before it under {expected}: only ciphertexts under one key \
                 can be computed on together"
            );
            return Err(Problem::unprocessable("wrong-key", detail));
        }
    }
    common.ok_or_else(|| Problem::unprocessable("wrong-inputs", "a job has at least one input"))
}
