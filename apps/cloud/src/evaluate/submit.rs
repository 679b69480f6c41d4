//! Checks every property of a job before accepting it, so that no computation ends in an avoidable refusal.

use serde::Deserialize;
use sotto_program::Plan;
use sotto_rlwe::{KeyId, ParameterId};
use sotto_wire::Envelope;
use utoipa::ToSchema;

use crate::cloud::Cloud;
use crate::id::{Id, from_hex};
use crate::problem::Problem;
use crate::store::{NewJob, StoredRow, SubmissionName, Submitted};

/// A plan, and the envelopes whose ciphertexts are its inputs, in order.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Submission {
    /// The plan's id: 64 lower-case hexadecimal digits.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    plan: String,
    /// Ids of the envelopes, in the order of the plan's inputs: 32 lower-case hexadecimal digits each.
    inputs: Vec<String>,
    /// The key of the answer, 32 lower-case hexadecimal digits; required only if all inputs are under foreign keys.
    key: Option<String>,
}

/// Checks a job and queues it, once per idempotency key.
pub(crate) fn submit(
    cloud: &Cloud,
    submission: &Submission,
    idempotency_key: Option<&str>,
) -> Result<Submitted, Problem> {
    let name = idempotency_key.map(|key| SubmissionName { key, digest: submission.digest() });
    if let Some(name) = &name
        && let Some(before) = cloud.store.job_named(name)?
    {
        return before.ok_or_else(reused).map(Submitted::Before);
    }
    let full = || Problem::busy("queue-full", "the queue of jobs is full: try again when some are done");
    let place = cloud.queue.reserve().ok_or_else(full)?;
    let unknown = || Problem::unprocessable("unknown-plan", "there is no plan of this name");
    let plan_id = from_hex(&submission.plan).ok_or_else(unknown)?;
    let plan = cloud.store.plan(&plan_id)?.ok_or_else(unknown)?;
    if submission.inputs.len() != plan.inputs.len() {
        let (expected, found) = (plan.inputs.len(), submission.inputs.len());
        let detail = format!("the plan takes {expected} inputs, {found} were given");
        return Err(Problem::unprocessable("wrong-inputs", detail));
    }
    let found = inputs(cloud, &submission.inputs)?;
    let parameters = ParameterId(plan.parameter_id);
    let key = answers_key(&plan, submission.key.as_deref(), &found)?;
    let inputs: Vec<Id> = found.iter().map(|envelope| envelope.id).collect();

    let (params, keys) = (cloud.params(parameters)?, cloud.keys(parameters, key)?);
    let mut ciphertexts = found.iter().map(|envelope| cloud.store.read(envelope).map(Envelope::into_body));
    params.check(&plan, &mut ciphertexts, &keys, cloud.config.largest_job)?;

    let job = NewJob { plan: plan_id, parameters, key, inputs: &inputs, name: name.as_ref() };
    let submitted = cloud.store.keep_job(&job)?.ok_or_else(reused)?;
    if let Submitted::New(job) = submitted {
        place.fill(job);
        tracing::info!(%job, steps = plan.steps.len(), inputs = inputs.len(), "queued");
    }
    Ok(submitted)
}

fn reused() -> Problem {
    let detail = "this idempotency key was used for another submission: use a new key for a new job";
    Problem::conflict("idempotency-key-reused", detail)
}

impl Submission {
    /// Returns a digest that is equal only for equal submissions.
    fn digest(&self) -> [u8; 32] {
        let Self { plan, inputs, key } = self;
        let mut hasher = blake3::Hasher::new();
        for part in [plan.as_str(), key.as_deref().unwrap_or_default()]
            .into_iter()
            .chain(inputs.iter().map(String::as_str))
        {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        *hasher.finalize().as_bytes()
    }
}

/// Looks up the envelopes of these names.
fn inputs(cloud: &Cloud, names: &[String]) -> Result<Vec<StoredRow>, Problem> {
    let unknown =
        || Problem::unprocessable("unknown-envelope", "one of the inputs is not the name of an envelope");
    let ids: Vec<Id> = names.iter().map(|name| Id::parse(name)).collect::<Option<_>>().ok_or_else(unknown)?;
    cloud.store.find(&ids)?.into_iter().collect::<Option<_>>().ok_or_else(unknown)
}

/// Returns the key of the answer: the key of those inputs that the plan expects under it, else the key that the
/// submission names.
///
/// Checks that all inputs have the plan's parameters. The plan's own check verifies that their keys fit together.
fn answers_key(plan: &Plan, named: Option<&str>, inputs: &[StoredRow]) -> Result<KeyId, Problem> {
    let parameters = ParameterId(plan.parameter_id);
    let mut answers = None;
    for (input, envelope) in plan.inputs.iter().zip(inputs) {
        let (id, found) = (&envelope.id, envelope.parameters);
        if found != parameters {
            let detail = format!("envelope {id} has parameters {found}, the plan is for {parameters}");
            return Err(Problem::unprocessable("wrong-parameters", detail));
        }
        if !input.key.is_foreign() {
            answers = answers.or(Some(envelope.key));
        }
    }
    let not_hex = || Problem::unprocessable("invalid-value", "key has 32 lower-case hexadecimal digits");
    let named = named.map(|key| from_hex(key).map(KeyId).ok_or_else(not_hex)).transpose()?;
    if let (Some(named), Some(found)) = (named, answers)
        && named != found
    {
        let detail = format!("the answer is to be under key {named}, its inputs are under key {found}");
        return Err(Problem::unprocessable("wrong-key", detail));
    }
    let neither = || {
        let detail = "all inputs are under foreign keys: name the key that the answer is to be under";
        Problem::unprocessable("wrong-inputs", detail)
    };
    answers.or(named).ok_or_else(neither)
}
