//! Compares encrypted integers with a public limit, one reading in an evaluation.

use std::hint::black_box;
use std::time::Instant;

use serde::Serialize;
use serde_json::{Value, json};
use tfhe::prelude::{FheDecrypt as _, FheOrd as _, FheTryEncrypt as _};
use tfhe::shortint::parameters::PARAM_MESSAGE_2_CARRY_2_KS_PBS_TUNIFORM_2M128 as PARAMETERS;
use tfhe::{
    ClientKey, CompressedFheUint8, CompressedFheUint12, CompressedServerKey, ConfigBuilder, FheBool,
    set_server_key,
};

use crate::{Failure, Request};

/// Runs the command. Readings have 8 or 12 bits; reals are not supported.
pub(crate) fn compare(request: &Request) -> Result<Value, Failure> {
    let whole = |values: &[f64]| values.iter().all(|value| value.fract() == 0.0);
    if request.gap > 0.0 || !whole(&request.readings) || !whole(&[request.limit]) {
        return Err("unsupported".into());
    }
    let client = ClientKey::generate(ConfigBuilder::with_custom_parameters(PARAMETERS));
    let keys = CompressedServerKey::new(&client);
    let bytes_keys = bytes(&keys)?;
    set_server_key(keys.decompress());
    let limit = request.limit as u16;
    // A device sends seeded ciphertexts; they are expanded outside of the time, as every engine parses outside of it.
    let evaluations = match request.range {
        [0.0, largest] if largest < 256.0 => evaluations(request, &client, |reading| {
            let sent = CompressedFheUint8::try_encrypt(reading as u8, &client)?;
            let (size, expanded) = (bytes(&sent)?, sent.decompress());
            Ok((size, Box::new(move || expanded.gt(limit as u8))))
        }),
        [0.0, largest] if largest < 4096.0 => evaluations(request, &client, |reading| {
            let sent = CompressedFheUint12::try_encrypt(reading, &client)?;
            let (size, expanded) = (bytes(&sent)?, sent.decompress());
            Ok((size, Box::new(move || expanded.gt(limit))))
        }),
        _ => Err("unsupported".into()),
    }?;
    Ok(json!({
        "scheme": "tfhe", "n": PARAMETERS.polynomial_size.0, "security": 128, "batch": 1, "exact": true,
        "parameters": format!(
            "digits of 2 bits, LWE dimension {}, failures 2^{:.0}",
            PARAMETERS.lwe_dimension.0, PARAMETERS.log2_p_fail
        ),
        "answers": evaluations.answers, "microseconds": evaluations.microseconds,
        "processor": evaluations.processor,
        "bytes_readings": evaluations.bytes_reading, "bytes_answer": evaluations.bytes_answer,
        "bytes_keys": bytes_keys,
    }))
}

/// The outcome of all evaluations.
#[derive(Default)]
struct Evaluations {
    answers: Vec<u8>,
    microseconds: Vec<f64>,
    processor: Vec<f64>,
    bytes_reading: usize,
    bytes_answer: usize,
}

/// A comparison that is ready to run.
type Ready = Box<dyn Fn() -> FheBool>;

/// Encrypts one reading after the other, compares it, decrypts. `encrypt` returns the bytes to send, and the comparison.
fn evaluations(
    request: &Request,
    client: &ClientKey,
    encrypt: impl Fn(u16) -> Result<(usize, Ready), Failure>,
) -> Result<Evaluations, Failure> {
    let mut found = Evaluations::default();
    let mut spent = 0.0;
    for reading in request.readings.iter().take(request.most) {
        if found.answers.len() >= request.least && spent >= request.seconds * 1e6 {
            break;
        }
        let (size, run) = encrypt(*reading as u16)?;
        let (begin, busy) = (Instant::now(), processor_time());
        let answer = black_box(run());
        let microseconds = begin.elapsed().as_secs_f64() * 1e6;
        found.processor.extend(busy.and_then(|busy| Some(processor_time()? - busy)));
        spent += microseconds;
        found.microseconds.push(microseconds);
        found.answers.push(u8::from(answer.decrypt(client)));
        found.bytes_reading = size;
        found.bytes_answer = bytes(&answer)?;
    }
    Ok(found)
}

/// Returns the microseconds that all threads of this process were on a processor. None if the system does not tell.
fn processor_time() -> Option<f64> {
    let nanoseconds = |task: std::io::Result<std::fs::DirEntry>| {
        let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<f64>().ok()
    };
    let all: Option<f64> = std::fs::read_dir("/proc/self/task").ok()?.map(nanoseconds).sum();
    all.map(|nanoseconds| nanoseconds / 1e3)
}

fn bytes(object: &impl Serialize) -> Result<usize, Failure> {
    Ok(usize::try_from(bincode::serialized_size(object)?)?)
}
