//! Whole tasks over Paillier, ElGamal and a re-encryption agent (recryptor) in this process, at a simulated distance.

use std::sync::Arc;
use std::time::Duration;

use chacha20::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use sotto_decrypt::partial::paillier::Decryptor;
use sotto_decrypt::partial::recryptor::LocalRecryptor;
use sotto_emulate::{
    Emulation, Flow, Products, Progress, PublicKeys, Recrypt, RecryptError, Request, Response, Schedule,
    Tally,
};
use sotto_harness::protocol::{MODES, Measure, Measured, Prepare, Task};
use sotto_keys::partial::{elgamal, paillier};
use sotto_partial::elgamal::{Group, GroupName};
use sotto_partial::paillier::Ciphertext;
use sotto_ring::secure_rng;
use sotto_wire::{write_elgamal_public_key, write_paillier_ciphertexts, write_paillier_public_key};

use crate::error::EngineError;
use crate::measure::Timer;
use crate::translate::translate;

/// The emulated schemes, by their names in requests.
pub(crate) const SCHEMES: [&str; 2] = ["paillier+elgamal", "paillier-blinded"];

/// How products are made, and how requests travel to the re-encryption agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// By conversion to ElGamal, one request after the other, as in the paper.
    ConvertedSerial,
    /// By conversion to ElGamal, all ready requests together.
    ConvertedParallel,
    /// By blinded factors, all ready requests together.
    BlindedParallel,
    /// By blinded factors, one request after the other.
    BlindedSerial,
}

impl Mode {
    /// The modes that a comparison shows.
    pub const ALL: [Self; 3] = [Self::ConvertedSerial, Self::ConvertedParallel, Self::BlindedParallel];

    /// Returns the name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::ConvertedSerial => "converted, serial",
            Self::ConvertedParallel => "converted, parallel",
            Self::BlindedParallel => "blinded, parallel",
            Self::BlindedSerial => "blinded, serial",
        }
    }

    fn products(self, group_bits: u32) -> Products {
        match self {
            Self::ConvertedSerial | Self::ConvertedParallel => Products::Converted { group_bits },
            Self::BlindedParallel | Self::BlindedSerial => Products::Blinded,
        }
    }

    fn schedule(self) -> Schedule {
        match self {
            Self::ConvertedSerial | Self::BlindedSerial => Schedule::Serial,
            Self::ConvertedParallel | Self::BlindedParallel => Schedule::parallel(),
        }
    }

    /// Parses the mode of a request.
    fn asked(blinded: bool, mode: Option<&str>) -> Result<Self, EngineError> {
        match (blinded, mode.unwrap_or("parallel")) {
            (false, "serial") => Ok(Self::ConvertedSerial),
            (false, "parallel") => Ok(Self::ConvertedParallel),
            (true, "parallel") => Ok(Self::BlindedParallel),
            (true, "serial") => Ok(Self::BlindedSerial),
            (_, other) => Err(EngineError::Request(format!(
                "the mode `{other}` is unknown; the modes are {}",
                MODES.join(", ")
            ))),
        }
    }
}

/// Keys of both schemes, and a re-encryption agent that holds them.
pub struct Emulator {
    bits: u32,
    keys: PublicKeys,
    agent: LocalRecryptor,
    decryptor: Decryptor,
    rng: ChaCha20Rng,
}

/// A re-encryption agent behind a network: every trip takes `latency` longer.
struct Distant<'a> {
    agent: &'a LocalRecryptor,
    latency: Duration,
}

impl Recrypt for Distant<'_> {
    fn exchange(&self, batch: &[Request]) -> Result<Vec<Response>, RecryptError> {
        if !self.latency.is_zero() {
            std::thread::sleep(self.latency);
        }
        self.agent.exchange(batch)
    }
}

impl Emulator {
    /// Makes keys of 2048 or 3072 bits for both schemes.
    ///
    /// # Errors
    /// `Request` if no group has `bits` bits; `Partial` if a key cannot be made.
    pub fn new(bits: u32, mut rng: ChaCha20Rng) -> Result<Self, EngineError> {
        let known = [GroupName::Ffdhe2048, GroupName::Ffdhe3072];
        let none = || EngineError::Request(format!("there is no group of {bits} bits: 2048 or 3072"));
        let name = known.into_iter().find(|name| name.bits() == bits).ok_or_else(none)?;
        let secret = paillier::SecretKey::generate(bits, paillier::Masking::default(), &mut rng)?;
        let multiplicative = elgamal::SecretKey::generate(&Arc::new(Group::new(name)?), &mut rng);
        let agent = LocalRecryptor::new(&secret, Some(multiplicative))?;
        let keys =
            PublicKeys { paillier: agent.paillier_key().clone(), elgamal: agent.elgamal_key().cloned() };
        let decryptor = Decryptor::new(&secret)?;
        Ok(Self { bits, keys, agent, decryptor, rng })
    }

    /// Lowers a task's programs, each to a flow.
    ///
    /// # Errors
    /// `Request` or `Program` if a program cannot be translated, `Emulation` if it cannot be lowered.
    pub fn flows(&self, task: &Task, mode: Mode) -> Result<Vec<Flow>, EngineError> {
        let target = Emulation { key_bits: self.bits, products: mode.products(self.bits) };
        let lower = |program| Ok(target.lower(&translate(program, 1)?.program)?);
        task.programs.iter().map(lower).collect()
    }

    /// Encrypts the inputs of each program.
    ///
    /// # Errors
    /// `Request` if an input is not a whole number; `Partial` if encryption fails.
    pub fn encrypt(&mut self, task: &Task) -> Result<Vec<Vec<Ciphertext>>, EngineError> {
        let key = &self.keys.paillier;
        let whole = || EngineError::Request("emulated tasks take whole numbers".to_owned());
        let mut program = |values: &sotto_harness::protocol::Values| {
            let values = values.integers().ok_or_else(whole)?.iter();
            values.map(|v| Ok(key.encrypt(&key.signed(i128::from(*v)), &mut self.rng)?)).collect()
        };
        task.inputs.iter().map(&mut program).collect()
    }

    /// Runs the flows of a task. Returns the outputs of the last program and the counts of requests and trips.
    ///
    /// # Errors
    /// `Emulated` if a flow stops; `Wrong` if a flow ends without its outputs.
    pub fn run(
        &self,
        task: &Task,
        flows: &[Flow],
        inputs: &[Vec<Ciphertext>],
        mode: Mode,
        latency: Duration,
    ) -> Result<(Vec<Ciphertext>, Tally), EngineError> {
        let agent = Distant { agent: &self.agent, latency };
        let (mut outputs, mut total) = (Vec::new(), Tally::default());
        for (flow, new) in flows.iter().zip(inputs) {
            let before: Vec<Ciphertext> = outputs.iter().take(task.kept).chain(new).cloned().collect();
            let mut progress = Progress::new(flow, &self.keys, &before)?;
            progress.advance(&agent, mode.schedule())?;
            outputs = progress.outputs().ok_or(EngineError::Wrong)?;
            total.trips += progress.tally().trips;
            total.requests += progress.tally().requests;
        }
        Ok((outputs, total))
    }

    /// Refuses outputs of the last program that differ from the task's answers.
    ///
    /// # Errors
    /// `Wrong` if an output is not its answer; `Partial` if it cannot be decrypted.
    pub fn require(&self, task: &Task, outputs: &[Ciphertext]) -> Result<(), EngineError> {
        let key = &self.keys.paillier;
        let open = |ciphertext: &Ciphertext| {
            self.decryptor.decrypt(key, ciphertext)?.to_signed(key).ok_or(EngineError::Wrong)
        };
        let found = outputs.iter().skip(task.kept).map(open).collect::<Result<Vec<i128>, _>>()?;
        let expected = task.answers.integers().unwrap_or_default().iter().copied().map(i128::from);
        if !found.is_empty() && expected.eq(found) { Ok(()) } else { Err(EngineError::Wrong) }
    }
}

/// An emulator with the kind of products that a request chose.
pub(crate) struct Emulated {
    emulator: Emulator,
    blinded: bool,
}

impl Emulated {
    pub(crate) fn prepare(request: &Prepare) -> Result<Self, EngineError> {
        let mut seed = [0; 32];
        secure_rng()?.fill_bytes(&mut seed);
        let bits = request.key_bits.unwrap_or_default();
        let emulator = Emulator::new(bits, ChaCha20Rng::from_seed(seed))?;
        Ok(Self { emulator, blinded: request.scheme == "paillier-blinded" })
    }

    /// Returns the bits of Paillier's modulus.
    pub(crate) fn bits(&self) -> u32 {
        self.emulator.bits
    }

    pub(crate) fn measure(&mut self, request: &Measure) -> Result<Measured, EngineError> {
        let timer = Timer::of(request);
        if request.operation == "serialise" {
            return self.serialise(request, timer);
        }
        let Some(task) = request.task.as_deref().filter(|_| request.operation.starts_with("task_")) else {
            return Err(EngineError::Unsupported);
        };
        let mode = Mode::asked(self.blinded, request.mode.as_deref())?;
        let latency = Duration::from_millis(u64::from(request.latency_ms.unwrap_or_default()));
        let emulator = &mut self.emulator;
        let flows = emulator.flows(task, mode)?;
        let before = emulator.encrypt(task)?;
        if timer.checks() {
            let (outputs, _) = emulator.run(task, &flows, &before, mode, latency)?;
            emulator.require(task, &outputs)?;
        }
        let run = |emulator: &mut Emulator, (): ()| {
            let fresh = if task.encrypted { None } else { Some(emulator.encrypt(task)?) };
            emulator.run(task, &flows, fresh.as_ref().unwrap_or(&before), mode, latency)
        };
        let microseconds = timer.time(emulator, |_| (), run, |_, _| ())?;
        Ok(Measured { microseconds, bytes: None, verified: true })
    }

    /// Times writing a frame of one ciphertext, or of the public keys that products need.
    fn serialise(&mut self, request: &Measure, timer: Timer) -> Result<Measured, EngineError> {
        let emulator = &mut self.emulator;
        let key = emulator.keys.paillier.clone();
        let ciphertext = key.encrypt(&key.signed(1), &mut emulator.rng)?;
        let second = emulator.keys.elgamal.clone().filter(|_| !self.blinded);
        let write = |(): &mut (), (): ()| match request.object.as_deref().unwrap_or("ciphertext") {
            "ciphertext" => Ok(write_paillier_ciphertexts(&key, core::slice::from_ref(&ciphertext))?),
            "public_key" => {
                let mut bytes = write_paillier_public_key(&key)?;
                bytes.extend(second.iter().flat_map(|key| write_elgamal_public_key(key)));
                Ok(bytes)
            }
            _ => Err(EngineError::Unsupported),
        };
        let bytes = write(&mut (), ())?.len() as u64;
        let microseconds = timer.time(&mut (), |()| (), write, |(), _| ())?;
        Ok(Measured { microseconds, bytes: Some(bytes), verified: true })
    }
}
