//! Makes a store as a cloud would have it: ciphertexts of two devices with keys of their own, evaluation keys, and a plan.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use rusqlite::{Connection, params};
use sotto_lake::store::VERSION;
use sotto_program::{
    KeyNumber, KeysNeeded, Plan, PlanInput, PlanOutput, PlanStep, Predicted, Register, Step,
};
use sotto_ring::{Seed, secure_rng};
use sotto_rlwe::{Bfv, Ciphertext, EvaluationKeys, KeyId, Params, Scheme};
use sotto_wire::{AnyCiphertext, Envelope, EnvelopeHeader, message_digest};

use crate::owner::Owner;

/// A store for measurements, and its contents in memory.
pub(crate) struct Store {
    pub(crate) folder: PathBuf,
    pub(crate) params: Params<Bfv>,
    /// Keys that lead from both devices to the owner.
    pub(crate) keys: EvaluationKeys<Bfv>,
    /// The devices' own, by which products are relinearised.
    pub(crate) own_keys: HashMap<KeyId, EvaluationKeys<Bfv>>,
    pub(crate) plan: Plan,
    pub(crate) plan_id: [u8; 32],
    /// With their keys, in the order of devices and numbers.
    pub(crate) envelopes: Vec<(KeyId, Vec<u8>)>,
}

/// The tables of a cloud's catalogue that the lake reads for ciphertexts.
const TABLES: &str = "
    CREATE TABLE parameters (id BLOB PRIMARY KEY, frame BLOB);
    CREATE TABLE evaluation_keys (parameter_id BLOB, key_id BLOB, file BLOB, transfers INTEGER);
    CREATE TABLE streams (tag BLOB PRIMARY KEY, device TEXT, header BLOB);
    CREATE TABLE envelopes (id BLOB PRIMARY KEY, digest BLOB, device TEXT, stream TEXT, sequence INTEGER, parameter_id BLOB,
        key_id BLOB, started_at INTEGER, ended_at INTEGER, readings INTEGER, layout BLOB, bytes INTEGER, stored_at INTEGER,
        stream_tag BLOB, message BLOB);";

/// x0 · x1, relinearised.
fn product(params: &Params<Bfv>) -> Plan {
    let input = |name: &str| PlanInput { name: name.into(), key: KeyNumber::ANSWER };
    let steps = [Step::Multiply(Register(0), Register(1)), Step::Relinearise(Register(2))];
    let mut plan = Plan {
        parameter_id: params.id().0,
        inputs: vec![input("x0"), input("x1")],
        constants: vec![],
        steps: (2..).zip(steps).map(|(at, step)| PlanStep { step, output: Register(at) }).collect(),
        outputs: vec![PlanOutput { name: "product".into(), register: Register(3), form: None }],
        keys: KeysNeeded::default(),
        predicted: Predicted::default(),
    };
    plan.keys = plan.keys_needed();
    plan
}

/// Makes a store with so many windows of each device.
pub(crate) fn store(folder: &Path, degree: usize, windows: u64) -> anyhow::Result<Store> {
    for of in ["envelopes", "keys", "plans"] {
        fs::create_dir_all(folder.join(of))?;
    }
    let catalogue = Connection::open(folder.join("cloud.sqlite"))?;
    catalogue.execute_batch(TABLES)?;
    catalogue.pragma_update(None, "user_version", VERSION)?;
    let params = Params::<Bfv>::default_chain(degree, 65_537)?;
    let frame = sotto_wire::write_parameters(params.spec());
    catalogue.execute("INSERT INTO parameters VALUES (?1, ?2)", params![params.id().0, frame])?;

    let owner = Owner::new(&params, 1);
    let devices = [("attic", Owner::new(&params, 2)), ("kitchen", Owner::new(&params, 3))];
    let mut keys = EvaluationKeys::empty(&params, owner.id);
    let mut own_keys = HashMap::new();
    for (_, device) in &devices {
        keys.transfers.insert(device.id, owner.transfer_key(device));
        own_keys.insert(device.id, device.evaluation_keys(&[]));
    }
    for set in own_keys.values().chain([&keys]) {
        let file = set.key.0;
        fs::write(folder.join("keys").join(hex::encode(file)), sotto_wire::write_evaluation_keys(set))?;
        let insert = "INSERT INTO evaluation_keys VALUES (?1, ?2, ?3, ?4)";
        catalogue.execute(insert, params![params.id().0, set.key.0, file, set.transfers.len() as i64])?;
    }
    let plan = product(&params);
    let frame = sotto_wire::write_plan(&plan)?;
    let plan_id = sotto_wire::frame_digest(&frame)?;
    fs::write(folder.join("plans").join(hex::encode(plan_id)), frame)?;

    let mut envelopes = Vec::new();
    for (name, device) in &devices {
        for number in 0..windows {
            let plaintext = Bfv::encode_slots(&params, &[number as i64, -7], params.top_level())?;
            let ciphertext = device.encrypt(&plaintext, Seed::random(&mut secure_rng()?))?;
            let frame = AnyCiphertext::Seeded(ciphertext).write();
            envelopes
                .push((device.id, envelope(&catalogue, folder, (name, number), &params, device.id, frame)?));
        }
    }
    Ok(Store { folder: folder.to_owned(), params, keys, own_keys, plan, plan_id, envelopes })
}

/// Stores a ciphertext's frame as the window of a device with a number. Returns the envelope.
fn envelope(
    catalogue: &Connection,
    folder: &Path,
    (device, number): (&str, u64),
    params: &Params<Bfv>,
    key: KeyId,
    frame: Vec<u8>,
) -> anyhow::Result<Vec<u8>> {
    let header = EnvelopeHeader {
        device: device.into(),
        stream: "load".into(),
        sequence: number,
        parameters: params.id(),
        key,
        started_at: 0,
        ended_at: 1000,
        readings: 2,
        layout: b"{}".to_vec(),
    };
    // The cloud has checked signatures when it stored them.
    let bytes = Envelope::sign(header, frame, |_| [0; 64])?.write();
    let mut id = [0; 16];
    id[..8].copy_from_slice(&number.to_le_bytes());
    id[8..].copy_from_slice(&key.0[..8]);
    fs::write(folder.join("envelopes").join(hex::encode(id)), &bytes)?;
    catalogue.execute(
        "INSERT INTO envelopes VALUES (?1, ?2, ?3, 'load', ?4, ?5, ?6, 0, 1000, 2, x'', ?7, 0, NULL, NULL)",
        params![id, message_digest(&bytes)?, device, number as i64, params.id().0, key.0, bytes.len() as i64],
    )?;
    Ok(bytes)
}

impl Store {
    /// Returns the number of primes of a ciphertext.
    pub(crate) fn primes(&self) -> usize {
        self.params.top_level() + 1
    }

    /// Refuses the frame of another sum.
    pub(crate) fn same_residues(&self, frame: &[u8], expected: &Ciphertext<Bfv>) -> anyhow::Result<()> {
        let found = AnyCiphertext::read(frame, &self.params)?.with_claimed_shape().expand();
        ensure!(found.components() == expected.components(), "the lake's sum has other residues");
        Ok(())
    }
}
