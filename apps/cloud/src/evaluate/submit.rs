//! Checks every property of a job before accepting it, so that no computation ends in an avoidable refusal.

use sotto_api::jobs::Submission;
use sotto_api::reason;
use sotto_program::Plan;
use sotto_rlwe::{KeyId, ParameterId};
use sotto_wire::Envelope;

use crate::cloud::Cloud;
use crate::id::{Id, from_hex};
use crate::problem::Problem;
use crate::store::{NewJob, StoredRow, SubmissionName, Submitted};

/// Checks a job and queues it, once per idempotency key.
pub(crate) fn submit(
    cloud: &Cloud,
    submission: &Submission,
    idempotency_key: Option<&str>,
) -> Result<Submitted, Problem> {
    let name = idempotency_key.map(|key| SubmissionName { key, digest: digest(submission) });
    if let Some(name) = &name
        && let Some(before) = cloud.store.job_named(name)?
    {
        return before.ok_or_else(reused).map(Submitted::Before);
    }
    let full =
        || Problem::busy(reason::QUEUE_FULL, "the queue of jobs is full: try again when some are done");
    let place = cloud.queue.reserve().ok_or_else(full)?;
    let unknown = || Problem::unprocessable(reason::UNKNOWN_PLAN, "there is no plan of this name");
    let plan_id = from_hex(&submission.plan).ok_or_else(unknown)?;
    let plan = cloud.store.plan(&plan_id)?.ok_or_else(unknown)?;
    if submission.inputs.len() != plan.inputs.len() {
        let (expected, found) = (plan.inputs.len(), submission.inputs.len());
        let detail = format!("the plan takes {expected} inputs, {found} were given");
        return Err(Problem::unprocessable(reason::WRONG_INPUTS, detail));
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
    Problem::conflict(reason::IDEMPOTENCY_KEY_REUSED, detail)
}

/// Returns a digest that is equal only for equal submissions.
fn digest(submission: &Submission) -> [u8; 32] {
    let Submission { plan, inputs, key } = submission;
    let mut hasher = blake3::Hasher::new();
    let parts = [plan.as_str(), key.as_deref().unwrap_or_default()].into_iter();
    for part in parts.chain(inputs.iter().map(String::as_str)) {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    *hasher.finalize().as_bytes()
}

/// Looks up the envelopes of these names.
fn inputs(cloud: &Cloud, names: &[String]) -> Result<Vec<StoredRow>, Problem> {
    let unknown = || {
        let detail = "one of the inputs is not the name of an envelope";
        Problem::unprocessable(reason::UNKNOWN_ENVELOPE, detail)
    };
    let ids: Vec<Id> = names.iter().map(|name| Id::parse(name)).collect::<Option<_>>().ok_or_else(unknown)?;
    let found = cloud.with_windows(|cloud| Ok(cloud.store.find(&ids)?))?;
    found.into_iter().collect::<Option<_>>().ok_or_else(unknown)
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
            return Err(Problem::unprocessable(reason::WRONG_PARAMETERS, detail));
        }
        if !input.key.is_foreign() {
            answers = answers.or(Some(envelope.key));
        }
    }
    let not_hex =
        || Problem::unprocessable(reason::INVALID_VALUE, "key has 32 lower-case hexadecimal digits");
    let named = named.map(|key| from_hex(key).map(KeyId).ok_or_else(not_hex)).transpose()?;
    if let (Some(named), Some(found)) = (named, answers)
        && named != found
    {
        let detail = format!("the answer is to be under key {named}, its inputs are under key {found}");
        return Err(Problem::unprocessable(reason::WRONG_KEY, detail));
    }
    let neither = || {
        let detail = "all inputs are under foreign keys: name the key that the answer is to be under";
        Problem::unprocessable(reason::WRONG_INPUTS, detail)
    };
    answers.or(named).ok_or_else(neither)
}
