//! The command `compare`: encrypted readings against a public limit, exactly by tables (BFV, BGV), approximately by the
//! sign (CKKS).

use std::time::Instant;

use sotto_circuits::{
    CircuitError, DigitTable, Encrypted, Machine, Number, Sign, Table, TwoDigits, choose_parameters,
};
use sotto_decrypt::Decryptor;
use sotto_harness::protocol::{Compare, Compared, Values};
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::secure_rng;
use sotto_rlwe::{
    ChainRequest, Ciphertext, Ckks, Evaluator, Origin, ParameterSpec, Params, Scheme as _, with_exact_scheme,
};
use sotto_wire::{AnyCiphertext, write_evaluation_keys};

use crate::error::EngineError;
use crate::spoken::{Spoken, declare, decrypt, scheme_of};

/// The methods that this engine has.
pub(crate) const METHODS: [&str; 2] = ["sign", "table"];

/// t of tables.
const PLAIN_MODULUS: u64 = 65537;
/// Steps from which readings are sent as two digits.
const LONG: i64 = 256;
/// Parameters of the sign: the smallest n whose limit has room for the levels, and the fastest number of special primes.
const DEGREE: usize = 32768;
const SCALE_BITS: u32 = 40;
const SPECIAL_PRIMES: usize = 4;

/// Runs the command.
///
/// # Errors
/// `Unsupported` for other methods and schemes, and reals that tables cannot hold; the library's refusals.
pub(crate) fn compare(request: &Compare) -> Result<Compared, EngineError> {
    let scheme =
        request.scheme.as_deref().map_or(Some(Ckks::ID), scheme_of).ok_or(EngineError::Unsupported)?;
    match request.method.as_str() {
        "table" => {
            with_exact_scheme!(scheme, S => table::<S>(request)).unwrap_or(Err(EngineError::Unsupported))
        }
        "sign" if !scheme.is_exact() => sign(request),
        _ => Err(EngineError::Unsupported),
    }
}

/// A comparison as a circuit.
trait Question<S: Spoken<Value: Number>> {
    /// Returns the slots of each ciphertext, for readings in the order of the slots.
    fn slots(&self, readings: &[f64]) -> Result<Vec<Vec<S::Value>>, EngineError>;
    /// Returns about 1 in the slot of every reading above the limit, else about 0.
    fn evaluate<M: Machine<Value = S::Value>>(
        &self,
        machine: &mut M,
        inputs: &[M::Vector],
    ) -> Result<M::Vector, CircuitError>;
}

/// An exact predicate on whole readings.
enum Predicate {
    /// A polynomial of the reading.
    One(Table),
    /// Polynomials of two digits, each in a ciphertext of its own.
    Two(TwoDigits, DigitTable),
}

impl Predicate {
    fn of(first: i64, last: i64, limit: i64) -> Result<Self, CircuitError> {
        let steps = last - first + 1;
        if steps <= LONG {
            return Ok(Self::One(Table::greater(first..=last, limit)?));
        }
        // Digits of equal length take the least depth.
        let digits = TwoDigits::new(first..=last, (steps as f64).sqrt().ceil() as u32)?;
        let above = digits.greater(limit)?;
        Ok(Self::Two(digits, above))
    }

    fn ciphertexts(&self) -> usize {
        if matches!(self, Self::One(_)) { 1 } else { 2 }
    }

    /// Returns the numbers that a device sends for a reading. None outside of the range.
    fn sent(&self, reading: i64) -> Option<Vec<i64>> {
        match self {
            Self::One(table) => table.range().contains(&reading).then(|| vec![reading]),
            Self::Two(digits, _) => digits.split(reading).map(Vec::from),
        }
    }
}

impl<S: Spoken<Value = i64>> Question<S> for Predicate {
    fn slots(&self, readings: &[f64]) -> Result<Vec<Vec<i64>>, EngineError> {
        let outside =
            |reading: &f64| EngineError::Request(format!("the reading {reading} is outside of the range"));
        let sent = readings.iter().map(|reading| self.sent(*reading as i64).ok_or_else(|| outside(reading)));
        let sent = sent.collect::<Result<Vec<_>, _>>()?;
        Ok((0..self.ciphertexts()).map(|digit| sent.iter().map(|digits| digits[digit]).collect()).collect())
    }

    fn evaluate<M: Machine<Value = i64>>(
        &self,
        machine: &mut M,
        inputs: &[M::Vector],
    ) -> Result<M::Vector, CircuitError> {
        match (self, inputs) {
            (Self::One(table), [reading]) => table.evaluate(machine, reading),
            (Self::Two(_, above), [high, low]) => above.evaluate(machine, high, low),
            _ => Err(CircuitError::Empty("a digit")),
        }
    }
}

fn table<S: Spoken<Value = i64>>(request: &Compare) -> Result<Compared, EngineError> {
    let [first, last] = request.range;
    let is_whole = [first, last, request.limit].iter().all(|value| value.fract() == 0.0);
    if request.gap > 0.0 || !is_whole || request.readings.integers().is_none() {
        return Err(EngineError::Unsupported);
    }
    let predicate = Predicate::of(first as i64, last as i64, request.limit as i64)?;
    let inputs = predicate.ciphertexts();
    let chosen = choose_parameters::<S>(PLAIN_MODULUS, Origin::SecretKey, inputs, |machine, inputs| {
        Question::<S>::evaluate(&predicate, machine, inputs)
    })?;
    let about =
        format!("t = {PLAIN_MODULUS}, {inputs} × table of {} products", chosen.tally.products / inputs);
    let compared = carry_out::<S>(request, chosen.spec, &predicate)?;
    Ok(Compared { exact: true, parameters: format!("{about}, {}", compared.parameters), ..compared })
}

/// The sign of a reading minus the limit, both divided by the range.
struct Difference {
    sign: Sign,
    least: f64,
    width: f64,
    limit: f64,
}

impl Question<Ckks> for Difference {
    fn slots(&self, readings: &[f64]) -> Result<Vec<Vec<f64>>, EngineError> {
        Ok(vec![readings.iter().map(|reading| (reading - self.least) / self.width).collect()])
    }

    fn evaluate<M: Machine<Value = f64>>(
        &self,
        machine: &mut M,
        inputs: &[M::Vector],
    ) -> Result<M::Vector, CircuitError> {
        let reading = inputs.first().ok_or(CircuitError::Empty("a reading"))?;
        let difference = machine.add_constant(reading, (self.least - self.limit) / self.width)?;
        let (step, _) = self.sign.step(machine, &difference, 1.0)?;
        machine.recycle(difference);
        Ok(step)
    }
}

fn sign(request: &Compare) -> Result<Compared, EngineError> {
    let [least, largest] = request.range;
    // Whole readings are compared with a limit between two of them.
    let (limit, gap) =
        if request.gap > 0.0 { (request.limit, request.gap) } else { (request.limit + 0.5, 0.5) };
    let width = largest - least;
    // A step is half a sign; a quarter of the tolerance is left to the noise.
    let sign = Sign::with_error(gap / width, 1.5 * request.tolerance)?;
    let chain = ChainRequest {
        levels: Some(sign.depth()),
        special_primes: Some(SPECIAL_PRIMES),
        other_bits: Some(SCALE_BITS),
        first_bits: Some(SCALE_BITS + 10),
        ..ChainRequest::new(Ckks::ID, DEGREE, 0)
    };
    let compared = carry_out::<Ckks>(request, chain.build()?, &Difference { sign, least, width, limit })?;
    let parameters = format!("depth {}, scale 2^{SCALE_BITS}, {}", sign.depth(), compared.parameters);
    Ok(Compared { parameters, ..compared })
}

/// Makes keys; encrypts batches of readings, compares them, decrypts.
fn carry_out<S: Spoken<Value: Number>>(
    request: &Compare,
    spec: ParameterSpec,
    question: &impl Question<S>,
) -> Result<Compared, EngineError> {
    let params = Params::<S>::new(spec)?;
    let mut rng = secure_rng()?;
    let secret = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
    let keys = secret.evaluation_keys(true, &[], &mut rng)?;
    let evaluator = Evaluator::new(&params);
    let mut machine = Encrypted::new(&evaluator, &keys);
    let decryptor = Decryptor::new(&secret);
    let readings = request.readings.reals();
    let batch = if S::EXACT { params.degree() } else { params.degree() / 2 };
    let log2_qp = params.data_bits(params.top_level()) + params.special_bits();
    let special = params.spec().special.len();
    let mut compared = Compared {
        scheme: request.scheme.clone().unwrap_or_else(|| "ckks".to_owned()),
        n: params.degree(),
        parameters: format!("{special} special primes, log2 QP = {log2_qp:.0}"),
        log2_qp: Some(log2_qp),
        batch,
        bytes_keys: write_evaluation_keys(&keys).len() as u64,
        ..Compared::default()
    };
    let mut answers = Vec::new();
    let mut places = readings.iter().copied().cycle();
    let is_due = |taken: &[f64]| {
        let spent = taken.iter().sum::<f64>();
        let (count, most) = (taken.len(), request.most as usize);
        count < most && (count < request.least as usize || spent < request.seconds * 1e6)
    };
    while !readings.is_empty() && is_due(&compared.microseconds) {
        let slots = question.slots(&places.by_ref().take(batch).collect::<Vec<_>>())?;
        let mut inputs: Vec<Ciphertext<S>> = Vec::new();
        compared.bytes_readings = 0;
        for slots in slots {
            let plaintext = declare(S::encode_slots(&params, &slots, params.top_level())?, 1.0);
            let seeded = secret.encrypt(&plaintext, &mut rng)?;
            inputs.push(seeded.expand());
            compared.bytes_readings += AnyCiphertext::Seeded(seeded).write().len() as u64;
        }
        let (begin, busy) = (Instant::now(), processor_time());
        let answer = question.evaluate(&mut machine, &inputs)?;
        compared.microseconds.push(begin.elapsed().as_secs_f64() * 1e6);
        compared.processor.extend(busy.and_then(|busy| Some(processor_time()? - busy)));
        if answers.len() < readings.len() {
            answers.extend(decrypt(&decryptor, &answer, params.plain_modulus())?.reals());
        }
        compared.bytes_answer = AnyCiphertext::Expanded(answer).write().len() as u64;
    }
    answers.truncate(readings.len());
    compared.answers = Values::Reals(answers);
    Ok(compared)
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
