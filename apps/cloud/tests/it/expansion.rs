//! Compact ciphertexts of slots as inputs of jobs: stored in compact form, expanded for a plan.

use sotto_decrypt::Decryptor;
use sotto_program::Step;
use sotto_rlwe::{Ckks, DefaultChain, Kept, Params, SchemeId};
use sotto_wire::AnyCiphertext;

use crate::device::Device;
use crate::jobs::{ADD, plan};
use crate::store::contents;
use crate::world::World;

/// Values of a window; they repeat over all slots.
const SLOTS: usize = 8;

fn world() -> (World, Params<Ckks>, Device<Ckks>) {
    let params = Params::<Ckks>::new(DefaultChain::spec(SchemeId::Ckks, 8192, 0).unwrap()).unwrap();
    let (world, device) = (World::start(), Device::new("boiler", &params, 7));
    world.put_parameters(&params);
    world.register(&device);
    (world, params, device)
}

fn values(from: f64) -> Vec<f64> {
    (0..SLOTS).map(|slot| from + slot as f64 / 100.0).collect()
}

#[test]
fn a_sum_of_compact_windows_needs_the_keys_of_their_expansion() {
    let (world, params, mut device) = world();
    let frames = [0.1, -0.6].map(|from| device.encrypt_compact(&values(from)));
    let lengths: Vec<usize> = frames.iter().map(Vec::len).collect();
    assert!(lengths.iter().all(|bytes| *bytes < 600), "{lengths:?}: eight values of some 200 bits");
    let mut ids = Vec::new();
    for (sequence, frame) in (0..).zip(&frames) {
        ids.push(world.keep(&device.seal(device.header(sequence), frame.clone())));
    }
    let whole = world.keep(&device.envelope(2, &[0.25]));
    let asked = plan(&params, 2, &ADD);
    let id = world.put_plan(&asked);
    let inputs: Vec<&str> = ids.iter().map(String::as_str).collect();

    world.submit(&id, &inputs).refused(422, "missing-key");
    let steps = params.expansion_steps(Kept::Folded(SLOTS)).unwrap();
    world.put_keys(&device.evaluation_keys(false, &steps[1..]));
    let refused = world.submit(&id, &inputs);
    refused.refused(422, "missing-key");
    assert!(refused.to_string().contains("row swap"), "{refused}");
    let kept = contents(&world.data());
    world.submit(&id, &inputs).refused(422, "missing-key");
    assert_eq!(contents(&world.data()), kept, "nothing of a refused job stays");

    world.put_keys(&device.evaluation_keys(false, &steps));
    let of = |inputs: &[&str]| {
        let job = world.submit(&id, inputs).expect(202)["job"].as_str().unwrap().to_owned();
        let state = world.ended(&job);
        assert_eq!(state["state"], "done", "{state}");
        let output = world.owner("GET", &format!("/v1/jobs/{job}/outputs/0"), &[]);
        let sum = AnyCiphertext::read(&output.bytes, &params).unwrap().with_claimed_shape().expand();
        Decryptor::new(&device.secret).slots(&sum).unwrap().raw_values_for_owner_only().to_vec()
    };
    let (sums, mixed) = (of(&inputs), of(&[inputs[0], &whole]));
    for slot in 0..params.degree() / 2 {
        let (first, second) = (values(0.1)[slot % SLOTS], values(-0.6)[slot % SLOTS]);
        assert!((sums[slot] - first - second).abs() < 1e-4, "{slot}: {}", sums[slot]);
        // Compact and whole ciphertexts can be inputs of one job.
        let other = if slot == 0 { 0.25 } else { 0.0 };
        assert!((mixed[slot] - first - other).abs() < 1e-4, "{slot}: {}", mixed[slot]);
    }
}

#[test]
fn results_of_windows_leave_side_by_side() {
    let (world, params, mut device) = world();
    let steps = params.expansion_steps(Kept::Folded(SLOTS)).unwrap();
    world.put_keys(&device.evaluation_keys(false, &steps));
    let all: Vec<Vec<f64>> = [0.1, -0.6, 0.4].map(values).to_vec();
    let mut ids = Vec::new();
    for (sequence, values) in (0..).zip(&all) {
        let frame = device.encrypt_compact(values);
        ids.push(world.keep(&device.seal(device.header(sequence), frame)));
    }
    let register = sotto_program::Register;
    let steps = [
        Step::MultiplyMonomial(register(1), 1),
        Step::MultiplyMonomial(register(2), 2),
        Step::Add(register(0), register(3)),
        Step::Add(register(5), register(4)),
    ];
    let id = world.put_plan(&plan(&params, 3, &steps));
    let inputs: Vec<&str> = ids.iter().map(String::as_str).collect();
    let job = world.submit(&id, &inputs).expect(202)["job"].as_str().unwrap().to_owned();
    assert_eq!(world.ended(&job)["state"], "done");
    let output = world.owner("GET", &format!("/v1/jobs/{job}/outputs/0"), &[]);
    let merged = AnyCiphertext::read(&output.bytes, &params).unwrap().with_claimed_shape().expand();
    let decryptor = Decryptor::new(&device.secret);
    let plaintext = decryptor.decrypt(&merged).unwrap();
    let parts = decryptor.decode_parts(&plaintext, merged.shape(), SLOTS, all.len()).unwrap();
    for (found, expected) in parts.raw_values_for_owner_only().iter().zip(all.concat()) {
        assert!((found - expected).abs() < 1e-4, "{found} {expected}");
    }
}
