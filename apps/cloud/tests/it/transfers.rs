//! Jobs over the data of two devices, and their refusals.

use serde_json::json;
use sotto_decrypt::Decryptor;
use sotto_program::{KeyNumber, Plan, Register, Step};
use sotto_rlwe::{Bfv, Bgv, Ckks, Params, Scheme};

use crate::device::Device;
use crate::jobs::{ADD, plan, run};
use crate::store::contents;
use crate::world::{World, send};

/// x0 + x1, with x1 under a foreign key.
fn sum_of_two_keys<S: Scheme>(params: &Params<S>) -> Plan {
    let steps = [Step::SwitchKey(Register(1)), Step::Add(Register(0), Register(2))];
    let mut plan = plan(params, 2, &steps);
    plan.inputs[1].key = KeyNumber(1);
    plan.keys = plan.keys_needed();
    plan
}

fn two_devices() -> (World, Params<Bfv>, Device<Bfv>, Device<Bfv>) {
    let (world, params, kitchen) = World::with_device();
    let attic = Device::new("attic", &params, 2);
    world.register(&attic);
    (world, params, kitchen, attic)
}

#[test]
fn a_sum_over_two_devices_is_right_and_one_of_them_reads_it() {
    let (world, params, mut kitchen, mut attic) = two_devices();
    let answer = world.put_keys(&kitchen.transfer_keys(&[&attic]));
    assert_eq!(answer["transfers"], json!([attic.secret.id().to_string()]));
    let a = world.keep(&kitchen.envelope(0, &[1, 2, 3]));
    let b = world.keep(&attic.envelope(0, &[10, -20, 30]));
    let (state, sum) = run(&world, &params, &sum_of_two_keys(&params), &[&a, &b]);
    assert_eq!(state["counters"], json!({ "add": 1, "switch-key": 1 }));
    let slots = Decryptor::new(&kitchen.secret).slots(&sum).unwrap().into_residues();
    assert_eq!(slots[..4], [11, -18, 33, 0]);
    assert!(Decryptor::new(&attic.secret).slots(&sum).is_err());
}

#[test]
fn every_scheme_switches_keys() {
    fn sum<S: Scheme>(world: &World, values: [S::Value; 2], judge: impl FnOnce(S::Value)) {
        let params = Params::<S>::default_chain(4096, 40_961).unwrap();
        let name = |number: u8| format!("{}-{number}", S::ID.name());
        let mut devices = [1, 2].map(|number| Device::new(&name(number), &params, number));
        world.put_parameters(&params);
        devices.iter().for_each(|device| drop(world.register(device)));
        let [first, second] = &mut devices;
        world.put_keys(&first.transfer_keys(&[second]));
        let [a, b] = values;
        let (a, b) = (world.keep(&first.envelope(0, &[a])), world.keep(&second.envelope(0, &[b])));
        let (_, sum) = run(world, &params, &sum_of_two_keys(&params), &[&a, &b]);
        let plaintext = Decryptor::new(&first.secret).decrypt(&sum).unwrap();
        judge(S::decode_slots(&params, &plaintext).unwrap()[0]);
    }
    let world = World::start();
    sum::<Bfv>(&world, [3, 4], |found| assert_eq!(found, 7));
    sum::<Bgv>(&world, [3, 4], |found| assert_eq!(found, 7));
    sum::<Ckks>(&world, [0.25, 0.5], |found| assert!((found - 0.75).abs() < 1e-3, "{found}"));
}

#[test]
fn without_the_transfer_key_nothing_is_computed() {
    let (world, params, mut kitchen, mut attic) = two_devices();
    let a = world.keep(&kitchen.envelope(0, &[1]));
    let b = world.keep(&attic.envelope(0, &[2]));
    let id = world.put_plan(&sum_of_two_keys(&params));
    let keys = format!("transfer key from {} to {}", attic.secret.id(), kitchen.secret.id());
    let refused = || {
        let before = contents(&world.data());
        let answer = world.submit(&id, &[&a, &b]);
        answer.refused(422, "missing-key");
        assert!(answer.to_string().contains(&keys), "{answer}");
        assert_eq!(contents(&world.data()), before);
    };
    refused();
    // A transfer key works in one direction only.
    let back = attic.secret.id();
    let mut other = Device::new("attic", &params, 2);
    assert_eq!(other.secret.id(), back);
    world.put_keys(&other.transfer_keys(&[&kitchen]));
    refused();
    world.put_keys(&kitchen.transfer_keys(&[&attic]));
    let job = world.submit(&id, &[&a, &b]).expect(202)["job"].as_str().unwrap().to_owned();
    assert_eq!(world.ended(&job)["state"], "done");

    // A deleted transfer key is gone; the keys beside it stay.
    let mut both = kitchen.evaluation_keys(true, &[1]);
    both.transfers = kitchen.transfer_keys(&[&attic]).transfers;
    world.put_keys(&both);
    world.delete_transfer(&attic, &attic).refused(404, "unknown-key");
    assert_eq!(world.delete_transfer(&kitchen, &attic).status, 204);
    world.delete_transfer(&kitchen, &attic).refused(404, "unknown-key");
    world.owner("DELETE", "/v1/keys/x/y/transfers/z", &[]).refused(404, "unknown-key");
    refused();
    let rotated = plan(&params, 1, &[Step::Rotate(Register(0), 1)]);
    run(&world, &params, &rotated, &[&a]);
}

#[test]
fn keys_are_never_mixed() {
    let (world, params, mut kitchen, mut attic) = two_devices();
    world.put_keys(&kitchen.transfer_keys(&[&attic]));
    let a = world.keep(&kitchen.envelope(0, &[1]));
    let b = world.keep(&attic.envelope(0, &[2]));
    // Without a switch step, an existing transfer key is not used implicitly.
    let direct = world.put_plan(&plan(&params, 2, &ADD));
    let answer = world.submit(&direct, &[&a, &b]);
    answer.refused(422, "wrong-key");
    assert!(answer.to_string().contains("switch-key"), "{answer}");
    // Both inputs under one key, where the plan names two.
    let switched = world.put_plan(&sum_of_two_keys(&params));
    world.submit(&switched, &[&a, &a]).refused(422, "wrong-key");
    // A plan that adds ciphertexts under two keys is invalid.
    let frame = sotto_wire::write_plan(&sum_of_two_keys(&params)).unwrap();
    let mut mixed = frame.clone();
    let at = frame.windows(9).position(|step| step == [1, 0, 0, 0, 0, 2, 0, 0, 0]).unwrap();
    mixed[at + 5] = 1;
    let end = mixed.len() - 32;
    let digest = blake3::hash(&mixed[..end]);
    mixed[end..].copy_from_slice(digest.as_bytes());
    let answer = world.owner("PUT", "/v1/plans", &mixed);
    answer.refused(422, "invalid-plan");
    assert!(answer.to_string().contains("switch the foreign one"), "{answer}");
}

#[test]
fn an_answer_may_be_under_a_key_that_no_device_has() {
    let (world, params, mut kitchen, mut attic) = two_devices();
    let mut owner = Device::new("owner", &params, 3);
    world.put_keys(&owner.transfer_keys(&[&kitchen, &attic]));
    let a = world.keep(&kitchen.envelope(0, &[1, 2]));
    let b = world.keep(&attic.envelope(0, &[10, 20]));
    let steps =
        [Step::SwitchKey(Register(0)), Step::SwitchKey(Register(1)), Step::Add(Register(2), Register(3))];
    let mut moved = plan(&params, 2, &steps);
    (moved.inputs[0].key, moved.inputs[1].key) = (KeyNumber(1), KeyNumber(2));
    moved.keys = moved.keys_needed();
    let id = world.put_plan(&moved);
    world.submit(&id, &[&a, &b]).refused(422, "wrong-inputs");
    let submit = |key: &str| {
        let body = json!({ "plan": id, "inputs": [a, b], "key": key }).to_string();
        world.owner("POST", "/v1/jobs", body.as_bytes())
    };
    submit("x").refused(422, "invalid-value");
    submit(&kitchen.secret.id().to_string()).refused(422, "wrong-key");
    submit(&"0".repeat(32)).refused(422, "missing-key");
    let job = submit(&owner.secret.id().to_string()).expect(202)["job"].as_str().unwrap().to_owned();
    assert_eq!(world.ended(&job)["state"], "done");
    let frame = world.owner("GET", &format!("/v1/jobs/{job}/outputs/0"), &[]).bytes;
    let sum = sotto_wire::AnyCiphertext::read(&frame, &params).unwrap().with_claimed_shape().expand();
    let slots = Decryptor::new(&owner.secret).slots(&sum).unwrap().into_residues();
    assert_eq!(slots[..3], [11, 22, 0]);

    // The named key must be that of the inputs under it.
    let direct = world.put_plan(&plan(&params, 2, &ADD));
    let body = json!({ "plan": direct, "inputs": [a, a], "key": owner.secret.id().to_string() }).to_string();
    world.owner("POST", "/v1/jobs", body.as_bytes()).refused(422, "wrong-key");
}

/// A cloud serves one owner; another owner has another cloud.
#[test]
fn devices_of_another_owner_are_refused() {
    let (world, params, mut kitchen, _) = two_devices();
    let a = world.keep(&kitchen.envelope(0, &[1]));
    let (elsewhere, mut stranger) = (World::start(), Device::new("stranger", &params, 9));
    elsewhere.put_parameters(&params);
    elsewhere.register(&stranger);
    let theirs = elsewhere.keep(&stranger.envelope(0, &[2]));

    let before = contents(&world.data());
    // No registered device has that key, so no transfer key from it is accepted.
    let keys = sotto_wire::write_evaluation_keys(&kitchen.transfer_keys(&[&stranger]));
    let answer = world.owner("PUT", "/v1/keys", &keys);
    answer.refused(422, "unknown-key");
    assert!(answer.to_string().contains(&stranger.secret.id().to_string()), "{answer}");
    world.upload("k", &stranger.envelope(1, &[2])).refused(403, "not-admitted");
    assert_eq!(contents(&world.data()), before);
    let id = world.put_plan(&sum_of_two_keys(&params));
    world.submit(&id, &[&a, &theirs]).refused(422, "unknown-envelope");
    // Another owner's token is refused.
    let token = [("authorization", "Bearer the-owner-of-another-cloud")];
    let body = json!({ "plan": id, "inputs": [a, a] }).to_string();
    send("POST", &world.url("/v1/jobs"), &token, body.as_bytes()).refused(401, "unauthorised");
    send("PUT", &world.url("/v1/keys"), &token, &keys).refused(401, "unauthorised");
}
