//! Predictions for a stream's questions: computing time, measured on this machine, and the cloud's limits.

use std::time::Instant;

use sotto_cloud_client::Limits;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_pack::WindowDescription;
use sotto_ring::{Scratch, secure_rng};
use sotto_rlwe::{Evaluator, Kept, ParameterSpec, Params, Seeded, with_scheme};
use sotto_runtime::{Encoding, Managed, RlweTarget, run};

use sotto_sums::{Answer, Encryptor, Opening, Part, SALT_BYTES, StartKeys, StreamKeys, Sum, TagKey};

use super::choose::{stream_report, worst};
use crate::files::random;
use crate::quantities::{Quantity, origin, program, typical};
use crate::streams::choose::{Chosen, StreamReport};

/// Number of windows that are timed together.
const TIMED: usize = 4;

/// Largest size of an envelope in addition to its ciphertext, in bytes.
const ENVELOPE_BYTES: u64 = (sotto_wire::LARGEST_LAYOUT + 1024) as u64;

/// Number of ciphertexts that a job holds per window: the window, its square and one intermediate result.
pub(crate) const HELD_FOR_A_WINDOW: u64 = 3;

/// Number of ciphertexts that a job holds beside its windows while it compares them with a limit.
pub(crate) const HELD_FOR_A_COMPARISON: u64 = 16;

/// Measures the seconds of computing per window, on this machine with one thread: everything that the stream's
/// questions need, without transfers. Returns None if it cannot be measured.
#[must_use]
pub fn seconds_a_window(chosen: &Chosen) -> Option<f64> {
    let Some(spec) = &chosen.spec else { return timed_sums(chosen) };
    with_scheme!(spec.scheme, S => timed::<S>(chosen, spec))
}

/// Returns the report on a stream with its [`seconds_a_window`].
#[must_use]
pub fn measured_report(chosen: &Chosen) -> StreamReport {
    StreamReport { seconds_a_window: seconds_a_window(chosen), ..stream_report(chosen) }
}

fn timed<S: Managed<Value: Default + Clone>>(chosen: &Chosen, spec: &ParameterSpec) -> Option<f64> {
    let params = Params::<S>::new(spec.clone()).ok()?;
    let target = RlweTarget {
        params: params.clone(),
        encoding: Encoding::Slots,
        origin: origin(chosen.stream.public),
        kept: chosen.kept(),
        may_wrap: true,
    };
    let mut rng = secure_rng().ok()?;
    let key = SecretKey::<S>::derive(&DeviceSecret::generate(&mut rng), &params);
    let slots = target.kept.map_or(chosen.layout.slots(), Kept::values);
    let zeros = vec![S::Value::default(); slots];
    let evaluator = Evaluator::new(&params);
    let mut seconds = 0.0;
    for quantity in worst(&chosen.stream, &chosen.layout, &chosen.cut) {
        // Compared windows are packed, others summed.
        let parts = match quantity {
            Quantity::Beyond(_) => {
                let windows = TIMED.min(chosen.results_in_one);
                vec![typical(&chosen.layout, &chosen.cut, 1, &quantity); windows]
            }
            _ => vec![typical(&chosen.layout, &chosen.cut, TIMED, &quantity)],
        };
        let windows = parts.iter().map(|part| part.inputs.len()).sum();
        let asked = program(&chosen.layout, spec.degree, &parts, &[quantity], parts.len() > 1).ok()?;
        let Some(program) = &asked.program else { continue };
        let lowered = target.lower_reduced(program, &asked.merged).ok()?;
        let needed = &lowered.keys;
        let keys = key.evaluation_keys(needed.relinearisation, &needed.galois_steps(), &mut rng).ok()?;
        let mut inputs = Vec::with_capacity(windows);
        for _ in 0..windows {
            let (magnitude, level) = (chosen.layout.magnitude(), params.top_level());
            let plaintext = match target.kept {
                Some(_) if chosen.stream.public => params
                    .encode_repeated(&zeros, level)
                    .map(|repeated| repeated.declare_magnitude(magnitude)),
                Some(_) => params.encode_folded(&zeros, magnitude, level),
                None => S::encode_slots(&params, &zeros, level).map(|all| all.declare_magnitude(magnitude)),
            };
            inputs.push(key.encrypt(&plaintext.ok()?, &mut rng).ok()?);
        }
        let mut scratch = Scratch::new();
        let mut expanded = |input: Seeded<S>| match target.kept {
            Some(kept) if !chosen.stream.public => {
                evaluator.expand(&input.compact(kept).ok()?, &keys, &mut scratch).ok()
            }
            _ => Some(input.expand()),
        };
        let begin = Instant::now();
        let inputs = inputs.into_iter().map(&mut expanded).collect::<Option<Vec<_>>>()?;
        run(&lowered.plan, &evaluator, inputs, &keys).ok()?;
        seconds += begin.elapsed().as_secs_f64() / windows as f64;
    }
    Some(seconds)
}

/// Times the encryption of windows and the opening of their sum.
fn timed_sums(chosen: &Chosen) -> Option<f64> {
    let (layout, ticks) = (&chosen.layout, chosen.cut.ticks);
    let header = chosen.sums_header()?;
    let (secret, salt) = (random::<32>().ok()?, [0; SALT_BYTES]);
    let id = header.stream_id()?;
    let window = WindowDescription::whole(layout, 0, chosen.cut.period, ticks);
    let (keys, start) = (StreamKeys::derive(&secret, id), StartKeys::derive(&secret, id, &salt));
    let mut encryptor = Encryptor::new(&secret, id, &salt, 0);
    let begin = Instant::now();
    for number in 0..TIMED as u64 {
        let mut pads = encryptor.window(number).ok()?;
        for (part, described) in (0..).zip(header.parts()) {
            let form = header.sums_form(part as usize).ok()?;
            let (counts, mut body) = (described.counts(&window), vec![0; form.body_bytes(ticks)]);
            let zeros = std::iter::repeat_n(Some(0), form.places(ticks));
            let tag = pads.encrypt(&form, ticks, part, zeros, counts.iter().copied(), &mut body).ok()?;
            body.extend(tag.to_bytes());
            let mut sum = Sum::new(&form);
            sum.add(&Part::read(&form, ticks, &body).ok()?, &counts, 1).ok()?;
            let mut opening = Opening::new(&form, part);
            opening.add_whole(&start, ticks, &[(number, 1)]);
            opening.open(&TagKey::new(&keys, &form, part), &Answer::from(&sum)).ok()?;
        }
    }
    Some(begin.elapsed().as_secs_f64() / TIMED as f64)
}

/// Returns the cloud's limits that a stream exceeds, each with the setting that raises it.
#[must_use]
pub fn beyond(chosen: &Chosen, limits: &Limits) -> Vec<String> {
    let mut beyond = Vec::new();
    let mut hold = |what: &str, needed: u64, most: u64, setting: &str| {
        if needed > most {
            beyond.push(format!(
                "{what} takes {needed}, and the cloud allows {most}: raise {setting} in cloud.toml"
            ));
        }
    };
    hold(
        "a window's bytes",
        chosen.window_bytes as u64 + ENVELOPE_BYTES,
        limits.largest_upload,
        "largest_upload",
    );
    hold("the evaluation keys' bytes", chosen.key_bytes as u64, limits.largest_keys, "largest_keys");
    let held = if chosen.stream.needs.gap_bits.is_some() { HELD_FOR_A_COMPARISON } else { 0 };
    if let Some(spec) = &chosen.spec {
        let bytes = (HELD_FOR_A_WINDOW + held) * expanded_bytes(spec);
        hold("a job's bytes", bytes, limits.largest_job, "largest_job");
    }
    let galois = chosen.keys.rotations.len() as u64 + u64::from(chosen.keys.swap_rows);
    if galois > limits.most_galois_keys as u64 {
        beyond.push(format!(
            "the questions need {galois} Galois keys, and the cloud holds {} of a device: declare fewer channels for one device",
            limits.most_galois_keys
        ));
    }
    beyond
}

/// Returns the bytes of a fresh ciphertext in the cloud's memory.
pub(crate) fn expanded_bytes(spec: &ParameterSpec) -> u64 {
    2 * spec.data.len() as u64 * 8 * spec.degree as u64
}
