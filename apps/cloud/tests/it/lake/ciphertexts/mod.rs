//! Plans and sums of whole ciphertexts: the lake gives the bytes of the cloud's jobs.

mod bucket;
mod plans;
mod refusals;
mod sums;
mod windows;

use std::path::PathBuf;

use serde_json::json;
use sotto_program::{KeyNumber, Plan, Register, Step};
use sotto_rlwe::{Bfv, Ciphertext, Params, Scheme};
use sotto_wire::AnyCiphertext;

use super::site::Lake;
use crate::device::Device;
use crate::jobs::plan;
use crate::world::World;

/// Two devices with keys of their own, and windows of both.
struct Plant {
    world: World,
    params: Params<Bfv>,
    kitchen: Device<Bfv>,
    attic: Device<Bfv>,
    /// The ids of the kitchen's windows, and of the attic's.
    ids: [Vec<String>; 2],
}

/// Returns the values of a window.
fn values(device: usize, number: u64) -> Vec<i64> {
    let number = number as i64;
    vec![number + 1, 10 * number - 3 + device as i64, -(number * number)]
}

impl Plant {
    /// Starts a cloud with so many windows of each device. The kitchen's key has all keys that the plans of these tests take.
    fn new(windows: u64) -> Self {
        let (world, params, mut kitchen) = World::with_device();
        let mut attic = Device::new("attic", &params, 2);
        world.register(&attic);
        let mut keys = kitchen.evaluation_keys(true, &[1]);
        keys.transfers = kitchen.transfer_keys(&[&attic]).transfers;
        world.put_keys(&keys);
        let ids = [(&mut kitchen, 0), (&mut attic, 1)].map(|(device, at)| {
            let mut keep = |number| world.keep(&device.envelope(number, &values(at, number)));
            (0..windows).map(&mut keep).collect()
        });
        Self { world, params, kitchen, attic, ids }
    }

    fn lake(&self, arguments: &[&str]) -> Lake {
        Lake::over(&self.world.data(), arguments)
    }

    /// Makes a backup; returns its folder.
    fn backed_up(&self) -> PathBuf {
        let place = self.world.folder().join("backup");
        let (config, days) = (self.world.config(), sotto_cloud::backups::Days::default());
        sotto_cloud::backups::backup(&config, sotto_cloud::Place::from(place.as_path()), days).unwrap();
        place
    }

    fn read(&self, frame: &[u8]) -> Ciphertext<Bfv> {
        read(&self.params, frame)
    }
}

fn read<S: Scheme>(params: &Params<S>, frame: &[u8]) -> Ciphertext<S> {
    AnyCiphertext::read(frame, params).unwrap().with_claimed_shape().expand()
}

/// Returns the outputs of a job of the cloud, one behind the other.
fn job(world: &World, plan: &str, inputs: &[&String], key: Option<&str>) -> Vec<u8> {
    let mut submission = json!({ "plan": plan, "inputs": inputs });
    if let Some(key) = key {
        submission["key"] = key.into();
    }
    let submitted = world.owner("POST", "/v1/jobs", submission.to_string().as_bytes()).expect(202);
    let job = submitted["job"].as_str().unwrap();
    let state = world.ended(job);
    assert_eq!(state["state"], "done", "{state}");
    let output = |at| world.owner("GET", &format!("/v1/jobs/{job}/outputs/{at}"), &[]).bytes;
    (0..state["outputs"].as_u64().unwrap()).flat_map(output).collect()
}

/// x0 · x1, relinearised, plus its rotation by one.
fn product<S: Scheme>(params: &Params<S>) -> Plan {
    let steps = [
        Step::Multiply(Register(0), Register(1)),
        Step::Relinearise(Register(2)),
        Step::Rotate(Register(3), 1),
        Step::Add(Register(3), Register(4)),
    ];
    plan(params, 2, &steps)
}

/// x0 + x1, with one of them under a foreign key.
fn sum_of_two_keys<S: Scheme>(params: &Params<S>, foreign: u32) -> Plan {
    let steps = [Step::SwitchKey(Register(foreign)), Step::Add(Register(1 - foreign), Register(2))];
    let mut plan = plan(params, 2, &steps);
    plan.inputs[foreign as usize].key = KeyNumber(1);
    plan.keys = plan.keys_needed();
    plan
}
