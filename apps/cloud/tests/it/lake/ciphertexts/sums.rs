//! Sums under one key: the residues of a plan that switches and adds, and the same bytes however the work is divided.

use sotto_decrypt::Decryptor;
use sotto_program::{KeyNumber, Plan, Register, Step};

use super::super::site::program;
use super::{Plant, job, values};
use crate::device::Device;
use crate::jobs::plan;

const ALL: &str = "select 'all', sotto_switch_sum(ciphertext) from ciphertexts";

/// The sum of inputs, of which the first `foreign` are under another key.
fn sum(plant: &Plant, inputs: u32, foreign: u32) -> Plan {
    let mut steps: Vec<Step> = (0..foreign).map(|at| Step::SwitchKey(Register(at))).collect();
    let addends: Vec<Register> = (inputs..inputs + foreign).chain(foreign..inputs).map(Register).collect();
    let mut total = addends[0];
    for addend in &addends[1..] {
        let next = Register(inputs + steps.len() as u32);
        steps.push(Step::Add(total, *addend));
        total = next;
    }
    let mut plan = plan(&plant.params, inputs, &steps);
    plan.inputs[..foreign as usize].iter_mut().for_each(|input| input.key = KeyNumber(1));
    plan.keys = plan.keys_needed();
    plan
}

#[test]
fn a_sum_of_two_devices_has_the_residues_of_a_plan() {
    if program().is_none() {
        return;
    }
    let plant = Plant::new(7);
    let id = plant.world.put_plan(&sum(&plant, 14, 7));
    let inputs: Vec<&String> = plant.ids[1].iter().chain(&plant.ids[0]).collect();
    let expected = plant.read(&job(&plant.world, &id, &inputs, None));
    let frame = plant.lake(&["--threads", "1"]).frames(ALL).unwrap()["all"].clone();
    let found = plant.read(&frame);
    assert_eq!(found.components(), expected.components());
    assert_eq!(found.key(), plant.kitchen.secret.id());
    // The bound is never below the plan's: the noisiest times 14.
    let (bound, of_plan) = (found.shape().noise.error.0, expected.shape().noise.error.0);
    assert!(bound > of_plan - 1e-9 && bound < of_plan + 1.0, "{bound} {of_plan}");
    let slots = Decryptor::new(&plant.kitchen.secret).slots(&found).unwrap().into_residues();
    let all: Vec<Vec<i64>> = (0..14).map(|at| values(at as usize % 2, at / 2)).collect();
    let sums: Vec<i64> = (0..3).map(|slot| all.iter().map(|values| values[slot]).sum()).collect();
    assert_eq!(slots[..3], sums[..]);
    // Divided in other ways, the bytes are the same.
    for arguments in [["--threads", "2"], ["--threads", "5"]] {
        assert_eq!(plant.lake(&arguments).frames(ALL).unwrap()["all"], frame);
    }
    let key = plant.kitchen.secret.id();
    let named = format!("select 'all', sotto_switch_sum(ciphertext, '{key}') from ciphertexts");
    assert_eq!(plant.lake(&["--threads", "2"]).frames(&named).unwrap()["all"], frame);
    let back =
        "select 'all', sotto_switch_sum(ciphertext) from (select * from ciphertexts order by number desc)";
    assert_eq!(plant.lake(&["--threads", "2"]).frames(back).unwrap()["all"], frame);
}

#[test]
fn groups_and_conditions_are_sums_of_their_ciphertexts() {
    if program().is_none() {
        return;
    }
    let plant = Plant::new(6);
    let lake = plant.lake(&["--threads", "2"]);
    let sql = "select number % 3, sotto_switch_sum(ciphertext) filter (where device = 'attic' or number > 2)
               from ciphertexts group by 1";
    let found = lake.frames(sql).unwrap();
    let decryptor = Decryptor::new(&plant.kitchen.secret);
    for third in 0..3_u64 {
        let frame = &found[&third.to_string()];
        let slots = decryptor.slots(&plant.read(frame)).unwrap().into_residues();
        let parts = [values(1, third), values(1, third + 3), values(0, third + 3)];
        let sums: Vec<i64> = (0..3).map(|slot| parts.iter().map(|values| values[slot]).sum()).collect();
        assert_eq!(slots[..3], sums[..]);
    }
    // Little memory gives the same bytes from the disk, or a refusal.
    let many = "select concat(device, number), sotto_switch_sum(ciphertext) from ciphertexts group by 1";
    let expected = lake.frames(many).unwrap();
    for memory in ["100000", "1000000", "100000000"] {
        match plant.lake(&["--threads", "2", "--memory", memory]).frames(many) {
            Ok(found) => assert_eq!(found, expected),
            Err(error) => assert!(error.contains("Resources exhausted"), "{error}"),
        }
    }
}

#[test]
fn the_key_is_named_where_several_are_possible() {
    if program().is_none() {
        return;
    }
    let plant = Plant::new(2);
    let mut owner = Device::new("owner", &plant.params, 3);
    plant.world.put_keys(&owner.transfer_keys(&[&plant.kitchen, &plant.attic]));
    let lake = plant.lake(&["--threads", "2"]);
    let error = lake.frames(ALL).unwrap_err();
    let (one, other) = (owner.secret.id().to_string(), plant.kitchen.secret.id().to_string());
    assert!(error.contains(&one) && error.contains(&other) && error.contains("name one"), "{error}");
    let of = |key: &str| format!("select 'all', sotto_switch_sum(ciphertext, '{key}') from ciphertexts");
    let slots = |frame: &[u8], device: &Device<_>| {
        Decryptor::new(&device.secret).slots(&plant.read(frame)).unwrap().into_residues()[..3].to_vec()
    };
    let expected = vec![6, 10, -2];
    assert_eq!(slots(&lake.frames(&of(&one)).unwrap()["all"], &owner), expected);
    assert_eq!(slots(&lake.frames(&of(&other)).unwrap()["all"], &plant.kitchen), expected);
    // No keys lead to the attic's.
    let attic = plant.attic.secret.id().to_string();
    let error = lake.frames(&of(&attic)).unwrap_err();
    let missing = format!("transfer key from {other} to {attic}");
    assert!(error.contains(&missing) && error.contains("of `kitchen`"), "{error}");
    // The attic alone needs none.
    let alone = format!("{} where device = 'attic'", of(&attic));
    assert_eq!(slots(&lake.frames(&alone).unwrap()["all"], &plant.attic), vec![3, 6, -1]);
}
